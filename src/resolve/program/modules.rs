//! The tree of modules as files and `mod` items show it: which file is which module of which crate, and
//! what each module declares and imports.
//!
//! A file that declares others need not be among those that were parsed; then the file's own path says
//! where it stands. Modules under conditions are all there, on all branches. It resolves no names.

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::facts::rust::Use;

use super::super::Package;
use super::super::evaluate::normal_path;
use super::SourceUnit;

/// A module by its number.
pub type ModuleId = usize;

#[derive(Default)]
pub struct Module<'a> {
    pub package: Option<usize>,
    pub parent: Option<ModuleId>,
    /// The root module of its crate.
    pub root: ModuleId,
    pub children: HashMap<&'a str, ModuleId>,
    /// By the name that they give. Under conditions there can be several of one name.
    pub imports: HashMap<&'a str, Vec<&'a Use>>,
    pub globs: Vec<&'a Use>,
    /// Functions outside of `impl` and `trait` blocks.
    pub functions: HashMap<&'a str, Vec<usize>>,
    pub constants: HashMap<&'a str, Vec<usize>>,
    pub types: HashMap<&'a str, Vec<usize>>,
}

impl Module<'_> {
    pub fn declares(&self, name: &str) -> bool {
        self.functions.contains_key(name)
            || self.constants.contains_key(name)
            || self.types.contains_key(name)
    }
}

pub struct Modules<'a> {
    pub all: Vec<Module<'a>>,
    /// The module that each file is.
    pub of_unit: Vec<ModuleId>,
    /// The root module of each package's library (and of its `main.rs`).
    pub libraries: Vec<Option<ModuleId>>,
}

impl<'a> Modules<'a> {
    pub fn new(units: &'a [SourceUnit<'a>], packages: &[Package]) -> Self {
        let mut tree = Tree {
            units,
            packages,
            by_path: units.iter().enumerate().map(|(unit, source)| (source.path, unit)).collect(),
            modules: Vec::new(),
            roots: HashMap::new(),
            placed: vec![None; units.len()],
        };
        tree.place_all();
        let libraries =
            (0..packages.len()).map(|at| tree.roots.get(&(Some(at), String::new())).copied()).collect();
        let of_unit = tree.placed.iter().map(|placed| placed.unwrap_or_default()).collect();
        let mut modules = Self { all: tree.modules, of_unit, libraries };
        for (unit, source) in units.iter().enumerate() {
            for import in &source.facts.uses {
                let module = modules.inner(unit, &import.module);
                let module = &mut modules.all[module];
                match import.name.as_str() {
                    "*" => module.globs.push(import),
                    name => module.imports.entry(name).or_default().push(import),
                }
            }
        }
        modules
    }

    /// The inline module of a file, made when it is new.
    pub fn inner(&mut self, unit: usize, inline: &'a [String]) -> ModuleId {
        inline.iter().fold(self.of_unit[unit], |parent, name| child(&mut self.all, parent, name))
    }
}

fn child<'a>(modules: &mut Vec<Module<'a>>, parent: ModuleId, name: &'a str) -> ModuleId {
    if let Some(&known) = modules[parent].children.get(name) {
        return known;
    }
    let made = modules.len();
    let Module { package, root, .. } = modules[parent];
    modules.push(Module { package, root, parent: Some(parent), ..Module::default() });
    modules[parent].children.insert(name, made);
    made
}

/// The tree while files are put into it.
struct Tree<'a, 'p> {
    units: &'a [SourceUnit<'a>],
    packages: &'p [Package],
    by_path: BTreeMap<&'a str, usize>,
    modules: Vec<Module<'a>>,
    /// By package and the crate's root file; the library of a package and its `main.rs` share one.
    roots: HashMap<(Option<usize>, String), ModuleId>,
    placed: Vec<Option<ModuleId>>,
}

impl<'a> Tree<'a, '_> {
    /// Roots first, then files that send others to unusual places, then whatever nobody has declared.
    fn place_all(&mut self) {
        let layouts: Vec<Layout<'a>> = self.units.iter().map(|unit| layout(unit, self.packages)).collect();
        let sends = |unit: usize| self.units[unit].facts.modules.iter().any(|module| module.path.is_some());
        let mut order: Vec<usize> = (0..self.units.len()).collect();
        order.sort_by_key(|&unit| {
            let depth = layouts[unit].path.len();
            (depth > 0, !sends(unit), depth, unit)
        });
        for unit in order {
            if self.placed[unit].is_none() {
                let module = self.module(self.units[unit].package, &layouts[unit]);
                self.place(unit, module, layouts[unit].path.is_empty());
            }
        }
    }

    fn module(&mut self, package: Option<usize>, layout: &Layout<'a>) -> ModuleId {
        let next = self.modules.len();
        let root = *self.roots.entry((package, layout.root.clone())).or_insert(next);
        if root == next {
            self.modules.push(Module { package, root, ..Module::default() });
        }
        layout.path.iter().fold(root, |parent, name| child(&mut self.modules, parent, name))
    }

    /// Puts a file at its module, and the files that it declares below it. A file is placed once, so that
    /// files that declare each other end.
    fn place(&mut self, unit: usize, module: ModuleId, is_root: bool) {
        let mut waiting = VecDeque::from([(unit, module, is_root)]);
        while let Some((unit, module, owns_folder)) = waiting.pop_front() {
            if self.placed[unit].is_some() {
                continue;
            }
            self.placed[unit] = Some(module);
            let units = self.units;
            for declaration in &units[unit].facts.modules {
                let inside =
                    declaration.module.iter().fold(module, |at, name| child(&mut self.modules, at, name));
                let named = child(&mut self.modules, inside, &declaration.name);
                for (path, owns) in files_of(units[unit].path, owns_folder, declaration) {
                    if let Some(&file) = self.by_path.get(path.as_str())
                        && units[file].package == units[unit].package
                    {
                        waiting.push_back((file, named, owns));
                    }
                }
            }
        }
    }
}

/// The files that a `mod name;` can mean, and whether their own modules stand in the same folder.
fn files_of(
    here: &str,
    owns_folder: bool,
    declaration: &crate::facts::rust::ModuleDeclaration,
) -> Vec<(String, bool)> {
    let (folder, file) = here.rsplit_once('/').unwrap_or(("", here));
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    let owns_folder = owns_folder || matches!(stem, "mod" | "lib" | "main");
    let mut base = folder.to_owned();
    let plain_path = declaration.path.is_some() && declaration.module.is_empty();
    if !owns_folder && !plain_path {
        base = normal_path(&base, stem);
    }
    for name in &declaration.module {
        base = normal_path(&base, name);
    }
    match &declaration.path {
        Some(path) => vec![(normal_path(&base, path), true)],
        None => vec![
            (normal_path(&base, &format!("{}.rs", declaration.name)), false),
            (normal_path(&base, &format!("{}/mod.rs", declaration.name)), true),
        ],
    }
}

/// Where a file stands by its path alone.
struct Layout<'a> {
    /// The root file of its crate; empty for the library and `main.rs`.
    root: String,
    path: Vec<&'a str>,
}

fn layout<'a>(unit: &SourceUnit<'a>, packages: &[Package]) -> Layout<'a> {
    let package = unit.package.and_then(|package| packages.get(package));
    let Some(package) = package else { return layout_without_package(unit.path) };
    let is_library = package.library.as_deref() == Some(unit.path);
    let folder = package.root.trim_end_matches('/');
    let inside = match folder {
        "" => unit.path,
        folder => unit.path.strip_prefix(folder).map_or(unit.path, |path| path.trim_start_matches('/')),
    };
    if is_library || matches!(inside, "src/lib.rs" | "src/main.rs") {
        return Layout { root: String::new(), path: Vec::new() };
    }
    if package.binaries.iter().any(|path| path == unit.path) {
        return Layout { root: unit.path.to_owned(), path: Vec::new() };
    }
    let library_folder =
        package.library.as_deref().and_then(|path| path.rsplit_once('/')).map(|(folder, _)| folder);
    let below = library_folder
        .and_then(|folder| unit.path.strip_prefix(folder))
        .map(|path| path.trim_start_matches('/'))
        .or_else(|| inside.strip_prefix("src/"));
    match below {
        Some(below) => match below.strip_prefix("bin/").and_then(|path| path.split_once('/')) {
            Some((binary, rest)) => {
                let start = &unit.path[..unit.path.len() - rest.len()];
                debug_assert!(start.ends_with('/') && !binary.is_empty());
                Layout { root: format!("{start}main.rs"), path: segments(rest) }
            }
            None => Layout { root: String::new(), path: segments(below) },
        },
        // Tests, benches and examples: each file of their folder is a crate.
        None if inside.matches('/').count() == 1 => Layout { root: unit.path.to_owned(), path: Vec::new() },
        None => Layout {
            root: inside.split('/').next().unwrap_or("").to_owned(),
            path: segments(inside.split_once('/').map_or(inside, |(_, rest)| rest)),
        },
    }
}

fn layout_without_package(path: &str) -> Layout<'_> {
    let below = path.strip_prefix("src/").map(|below| ("src", below));
    match below.or_else(|| path.split_once("/src/")) {
        Some((root, below)) => Layout { root: root.to_owned(), path: segments(below) },
        None => Layout { root: String::new(), path: segments(path) },
    }
}

/// The modules that a path below a crate's folder names.
fn segments(path: &str) -> Vec<&str> {
    let mut all: Vec<&str> = path.strip_suffix(".rs").unwrap_or(path).split('/').collect();
    if matches!(all.last(), Some(&("mod" | "lib" | "main"))) {
        all.pop();
    }
    all
}
