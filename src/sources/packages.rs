//! The packages of a run: manifests with their targets and what they inherit, and which file belongs to
//! which of them. It reads manifests only, and calls no cargo.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::manifest::{Binary, Dependency, Manifest, ManifestError, ReadManifest, parse};
use super::surroundings::is_workspace;
use super::{FileKind, Sources};
use crate::facts::{FileId, InputProblem, Span};

/// The packages of a run.
#[derive(Debug, Default)]
pub struct Packages {
    /// Sorted by folder.
    pub manifests: Vec<Manifest>,
    /// The position in `manifests` of the one nearest above a file.
    pub of_file: BTreeMap<FileId, usize>,
}

impl Packages {
    pub fn of(&self, file: FileId) -> Option<usize> {
        self.of_file.get(&file).copied()
    }

    /// Those that these files belong to.
    pub fn of_files(&self, files: &[FileId]) -> Packages {
        let old: BTreeSet<usize> = files.iter().filter_map(|file| self.of(*file)).collect();
        let of = |file: &FileId| Some((*file, old.range(..self.of(*file)?).count()));
        let of_file = files.iter().filter_map(of).collect();
        Packages { manifests: old.into_iter().map(|at| self.manifests[at].clone()).collect(), of_file }
    }
}

/// Reads all manifests of the run, and says what could not be read of them.
pub fn read_packages(sources: &Sources) -> (Packages, Vec<InputProblem>) {
    let mut read = Vec::new();
    let mut problems = Vec::new();
    for (id, file) in sources.files().filter(|(_, file)| file.kind == FileKind::Manifest) {
        let Some(text) = sources.text(id) else { continue };
        match parse(&text, id, file.dir()) {
            Ok(manifest) => read.push(manifest),
            Err(error) => problems.push(problem(id, &text, error)),
        }
    }
    read.sort_by(|a, b| a.manifest.dir.cmp(&b.manifest.dir));
    let offers = offers(&read, sources);
    let mut manifests: Vec<Manifest> = read.into_iter().map(|read| read.manifest).collect();
    for manifest in &mut manifests {
        inherit(manifest, &offers, sources);
    }
    let of_file = assign(&manifests, sources);
    find_targets(&mut manifests, &of_file, sources);
    (Packages { manifests, of_file }, problems)
}

fn assign(manifests: &[Manifest], sources: &Sources) -> BTreeMap<FileId, usize> {
    let by_folder: BTreeMap<&Path, usize> =
        manifests.iter().enumerate().map(|(at, manifest)| (folder_of(manifest, sources), at)).collect();
    let nearest = |folder: &Path| folder.ancestors().find_map(|folder| by_folder.get(folder).copied());
    // Files come folder by folder, nearly.
    let mut last: (&Path, Option<usize>) = (Path::new(""), None);
    sources
        .files()
        .filter_map(|(id, file)| {
            let folder = file.absolute().parent()?;
            if last.0.as_os_str() != folder.as_os_str() {
                last = (folder, nearest(folder));
            }
            Some((id, last.1?))
        })
        .collect()
}

fn folder_of<'a>(manifest: &Manifest, sources: &'a Sources) -> &'a Path {
    let path = sources.absolute(manifest.file);
    path.parent().unwrap_or(path)
}

fn problem(file: FileId, text: &str, error: ManifestError) -> InputProblem {
    let start = error.offset.min(text.len());
    let end = text[start..].find('\n').map_or(text.len(), |length| start + length);
    InputProblem {
        file,
        span: Span::new(to_offset(start), to_offset(end)),
        message: format!("the manifest cannot be parsed: {}", error.message),
        help: "mend the manifest; `cargo metadata` says more".to_owned(),
    }
}

fn to_offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

type Offers<'a> = BTreeMap<&'a Path, BTreeMap<String, Dependency>>;

/// What each workspace root of the run offers to its members, by its folder.
fn offers<'a>(read: &[ReadManifest], sources: &'a Sources) -> Offers<'a> {
    let roots = read.iter().filter(|read| read.manifest.is_workspace_root);
    roots.map(|read| (folder_of(&read.manifest, sources), read.workspace_dependencies.clone())).collect()
}

fn inherit(manifest: &mut Manifest, offers: &Offers<'_>, sources: &Sources) {
    let path = sources.absolute(manifest.file);
    let Manifest { dependencies, dev_dependencies, .. } = manifest;
    let mut inherited: Vec<_> = dependencies
        .iter_mut()
        .chain(dev_dependencies)
        .filter(|(_, dependency)| dependency.inherited)
        .collect();
    if inherited.is_empty() {
        return;
    }
    let in_the_run = path.ancestors().skip(1).find_map(|folder| offers.get(folder)).cloned();
    let offer = in_the_run.unwrap_or_else(|| outside_the_run(path));
    for (name, dependency) in &mut inherited {
        if let Some(base) = offer.get(*name) {
            let features = base.features.iter().chain(&dependency.features).cloned().collect();
            let optional = dependency.optional;
            **dependency = Dependency { features, optional, inherited: true, ..base.clone() };
        }
    }
}

/// The workspace may lie above the folder that was asked for.
fn outside_the_run(manifest: &Path) -> BTreeMap<String, Dependency> {
    manifest
        .ancestors()
        .skip(2)
        .find(|folder| is_workspace(folder))
        .and_then(|folder| fs::read_to_string(folder.join("Cargo.toml")).ok())
        .and_then(|text| parse(&text, FileId(0), "").ok())
        .map(|read| read.workspace_dependencies)
        .unwrap_or_default()
}

/// Adds the targets that Cargo finds by its layout.
fn find_targets(manifests: &mut [Manifest], of_file: &BTreeMap<FileId, usize>, sources: &Sources) {
    for (&id, &package) in of_file {
        let (Some(manifest), file) = (manifests.get_mut(package), sources.file(id)) else { continue };
        let Some(package) = manifest.package.clone() else { continue };
        let folder = folder_of(manifest, sources);
        let path = sources.absolute(id).strip_prefix(folder.join("src"));
        match path.ok().and_then(Path::to_str).map(|path| path.replace('\\', "/")).as_deref() {
            Some("main.rs") => add_binary(manifest, package, file.path()),
            Some("lib.rs") => manifest.has_lib = true,
            Some(path) => {
                let name = path.strip_prefix("bin/").and_then(|path| path.strip_suffix(".rs"));
                let name = name.map(|name| name.strip_suffix("/main").unwrap_or(name));
                if let Some(name) = name.filter(|name| !name.contains('/')) {
                    add_binary(manifest, name.to_owned(), file.path());
                }
            }
            None => {}
        }
    }
}

fn add_binary(manifest: &mut Manifest, name: String, path: &str) {
    if !manifest.bins.iter().any(|bin| bin.path == path || bin.name == name) {
        manifest.bins.push(Binary { name, path: path.to_owned() });
        manifest.bins.sort();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::sources::tests::run_over;

    #[test]
    fn members_inherit_and_targets_are_found() {
        let sources = run_over(&[
            (
                "Cargo.toml",
                "[workspace]\nmembers=[\"a\"]\n[workspace.dependencies]\n\
                 redis = { version = \"1\", default-features = false, features = [\"script\"] }\n",
            ),
            (
                "a/Cargo.toml",
                "[package]\nname=\"a\"\n[dependencies]\n\
                 redis = { workspace = true, features = [\"aio\"], optional = true }\n",
            ),
            ("a/src/main.rs", "fn main() {}"),
            ("a/src/bin/tool.rs", "fn main() {}"),
            ("a/src/bin/big/main.rs", "fn main() {}"),
            ("a/src/bin/big/part.rs", ""),
            ("migrations/1.sql", ""),
        ]);
        let (packages, problems) = read_packages(&sources.0);
        assert_eq!(problems, []);
        let dirs: Vec<_> = packages.manifests.iter().map(|manifest| manifest.dir.as_str()).collect();
        assert_eq!(dirs, ["", "a"]);
        let member = &packages.manifests[1];
        assert_eq!(member.dependencies["redis"].features, ["script", "aio"]);
        assert!(member.dependencies["redis"].optional && !member.dependencies["redis"].default_features);
        let bins: Vec<_> = member.bins.iter().map(|bin| (bin.name.as_str(), bin.path.as_str())).collect();
        assert_eq!(
            bins,
            [("a", "a/src/main.rs"), ("big", "a/src/bin/big/main.rs"), ("tool", "a/src/bin/tool.rs")]
        );
        let of = |path: &str| packages.of(sources.0.files().find(|(_, file)| file.path() == path).unwrap().0);
        assert_eq!((of("a/src/main.rs"), of("migrations/1.sql")), (Some(1), Some(0)));
    }

    #[test]
    fn a_broken_manifest_is_a_problem_and_the_others_are_read() {
        let sources =
            run_over(&[("a/Cargo.toml", "[package\n"), ("b/Cargo.toml", "[package]\nname=\"b\"\n")]);
        let (packages, problems) = read_packages(&sources.0);
        assert_eq!(packages.manifests.len(), 1);
        assert_eq!(problems.len(), 1);
        assert_eq!(sources.0.path(problems[0].file), "a/Cargo.toml");
    }

    #[test]
    fn a_workspace_above_the_run_is_asked_for_what_members_inherit() {
        let tree = tempfile::tempdir().unwrap();
        let member = tree.path().join("a");
        fs::create_dir(&member).unwrap();
        let root = "[workspace]\n[workspace.dependencies]\nsqlx = { version = \"0.8\" }\n";
        fs::write(tree.path().join("Cargo.toml"), root).unwrap();
        fs::write(member.join("Cargo.toml"), "[package]\n[dependencies]\nsqlx.workspace = true\n").unwrap();
        let sources = crate::sources::tests::run_in(&member);
        let (packages, _) = read_packages(&sources);
        assert_eq!(packages.manifests[0].dependencies["sqlx"].version.as_deref(), Some("0.8"));
    }
}
