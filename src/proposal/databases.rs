//! For which databases a project writes its SQL.

use std::collections::BTreeMap;

use crate::check::Survey;
use crate::facts::file::FileFacts;
use crate::facts::sql::Dialect;

/// What shows it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Databases {
    Nothing,
    /// All packages that show one show the same; the manifests.
    One(Dialect, Vec<String>),
    /// Packages differ: their folders and manifests.
    Several(Vec<(String, Dialect, String)>),
    /// No manifest shows one, and the words of so many `.sql` files look like this.
    Likely(Dialect, usize),
}

pub(super) fn seen(survey: &Survey) -> Databases {
    let packages = survey.packages.manifests.iter().zip(&survey.dialects);
    let shown: Vec<(String, Dialect, String)> = packages
        .filter_map(|(manifest, dialect)| {
            let path = survey.sources.path(manifest.file).to_owned();
            Some((manifest.dir.clone(), (*dialect)?, path))
        })
        .collect();
    let Some((_, first, _)) = shown.first() else { return likely(survey) };
    if shown.iter().all(|(_, dialect, _)| dialect == first) {
        return Databases::One(*first, shown.into_iter().map(|(_, _, manifest)| manifest).collect());
    }
    Databases::Several(shown)
}

fn likely(survey: &Survey) -> Databases {
    let mut counts: BTreeMap<Dialect, usize> = BTreeMap::new();
    for file in &survey.parsed {
        if let FileFacts::Sql(_, dialect) = &*file.facts {
            *counts.entry(*dialect).or_default() += 1;
        }
    }
    counts
        .into_iter()
        .max_by_key(|(_, count)| *count)
        .map_or(Databases::Nothing, |(dialect, count)| Databases::Likely(dialect, count))
}
