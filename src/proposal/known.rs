//! The client libraries of a project whose calls we know.

use std::collections::BTreeMap;

use crate::check::Survey;
use crate::resolve::Models;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Client {
    pub(super) package: String,
    /// The manifests that name it.
    pub(super) manifests: Vec<String>,
}

pub(super) fn seen(survey: &Survey, models: &Models) -> Vec<Client> {
    let mut clients: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for manifest in &survey.packages.manifests {
        for dependency in manifest.dependencies.values() {
            let name = dependency.package.replace('-', "_");
            if models.knows(&name) {
                let path = survey.sources.path(manifest.file).to_owned();
                clients.entry(dependency.package.clone()).or_default().push(path);
            }
        }
    }
    clients.into_iter().map(|(package, manifests)| Client { package, manifests }).collect()
}
