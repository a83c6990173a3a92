//! Which files of a run are judged together. What lies in one workspace or repository is one project, with all that
//! its packages depend on by path; nothing of one project says anything of another.
//!
//! So projects can be judged side by side, and one whose files are as they were need not be judged again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::facts::FileId;
use crate::sources::{Packages, Roots, Sources};

pub(super) struct Project {
    /// In the order of their numbers.
    pub(super) files: Vec<FileId>,
    pub(super) packages: Packages,
    /// All threads work on it together.
    pub(super) is_shared: bool,
}

impl Project {
    /// How many of its files a thread takes at least.
    pub(super) fn least(&self) -> usize {
        if self.is_shared { 1 } else { usize::MAX }
    }

    /// As messages name it: by its first manifest, or its first file.
    pub(super) fn name(&self, sources: &Sources) -> String {
        let manifest = self.packages.manifests.first().map(|manifest| manifest.file);
        let first = manifest.or_else(|| self.files.first().copied());
        first.map(|file| sources.path(file).to_owned()).unwrap_or_default()
    }
}

/// All files of the run, project by project, in the order of their first files.
pub(super) fn projects(sources: &Sources, packages: &Packages) -> Vec<Project> {
    let mut folders = Folders::new(sources, packages);
    folders.join_loose_files();
    for (from, to) in super::workspace::dependencies(packages) {
        let of = |package: usize| folders.of_file[packages.manifests[package].file.0 as usize];
        let (from, to) = (of(from), of(to));
        folders.join(from, to);
    }
    let mut files: BTreeMap<usize, Vec<FileId>> = BTreeMap::new();
    for (file, _) in sources.files() {
        let place = folders.first_of(folders.of_file[file.0 as usize]);
        files.entry(place).or_default().push(file);
    }
    let mut projects: Vec<Project> = files
        .into_values()
        .map(|files| Project { packages: packages.of_files(&files), files, is_shared: false })
        .collect();
    projects.sort_by_key(|project| project.files.first().copied());
    projects
}

/// The roots of the run, and which of them belong together.
struct Folders {
    numbers: BTreeMap<PathBuf, usize>,
    /// For each root one that it belongs to; itself when it is the first.
    joined: Vec<usize>,
    /// The root of each file, by the file's number.
    of_file: Vec<usize>,
    /// Folders of files that belong to no package, with one of these files.
    loose: BTreeMap<PathBuf, FileId>,
}

impl Folders {
    fn new(sources: &Sources, packages: &Packages) -> Self {
        let mut folders = Self {
            numbers: BTreeMap::new(),
            joined: Vec::new(),
            of_file: Vec::new(),
            loose: BTreeMap::new(),
        };
        let mut roots = Roots::new(&packages.manifests, sources);
        // Files come folder by folder, nearly.
        let mut last: Option<(&Path, usize)> = None;
        for (id, file) in sources.files() {
            let folder = file.absolute().parent().unwrap_or(file.absolute());
            let known = last.filter(|(last, _)| last.as_os_str() == folder.as_os_str());
            let number = known.map_or_else(|| folders.add(folder, &mut roots), |(_, number)| number);
            last = Some((folder, number));
            folders.of_file.push(number);
            if known.is_none() && packages.of(id).is_none() {
                folders.loose.entry(folder.to_owned()).or_insert(id);
            }
        }
        folders
    }

    /// A file of no package, such as a migration beside the packages of a repository, is about all packages around
    /// it.
    fn join_loose_files(&mut self) {
        let packages: Vec<(PathBuf, usize)> =
            self.numbers.clone().into_iter().filter(|(path, _)| *path != Path::new("")).collect();
        for (folder, file) in std::mem::take(&mut self.loose) {
            let own = self.of_file[file.0 as usize];
            let around = folder.ancestors().find_map(|above| {
                let start = packages.partition_point(|(path, _)| path.as_path() < above);
                let below: Vec<usize> = packages[start..]
                    .iter()
                    .take_while(|(path, _)| path.starts_with(above))
                    .map(|(_, number)| *number)
                    .collect();
                (!below.is_empty()).then_some(below)
            });
            around.into_iter().flatten().for_each(|other| self.join(own, other));
        }
    }

    /// The number of the root that a folder belongs to.
    fn add(&mut self, folder: &Path, roots: &mut Roots<'_>) -> usize {
        let root = roots.of(folder).unwrap_or_default();
        let next = self.joined.len();
        let number = *self.numbers.entry(root).or_insert(next);
        if number == next {
            self.joined.push(next);
        }
        number
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.first_of(one), self.first_of(other));
        self.joined[one.max(other)] = one.min(other);
    }

    fn first_of(&self, mut number: usize) -> usize {
        while self.joined[number] != number {
            number = self.joined[number];
        }
        number
    }
}
