//! The program as the text shows it: every function, constant and type of the run by name, and the
//! resolution of a written name to one of them.
//!
//! A path is followed through modules and imports first. Where that leads to nothing, because a file was
//! not parsed or a macro makes the name, the only namesake that the path can mean is taken; where there
//! are several, none.

mod modules;
mod paths;
mod tables;
mod types;

use std::collections::{HashMap, HashSet};

use crate::facts::FileId;
use crate::facts::rust::{Constant, Function, RustFile, TypeDefinition, TypeKind};

use super::Package;
pub use modules::ModuleId;
use modules::Modules;
use paths::Target;
pub use tables::{Declared, TableId};

/// One Rust file of the run.
pub struct SourceUnit<'a> {
    pub file: FileId,
    pub path: &'a str,
    /// The package whose manifest is nearest above it.
    pub package: Option<usize>,
    pub facts: &'a RustFile,
    /// The whole file is test, bench or example code.
    pub is_test: bool,
}

/// Where a name is written: the file, and the module in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope {
    pub unit: usize,
    pub module: ModuleId,
}

pub struct Program<'a> {
    pub units: &'a [SourceUnit<'a>],
    pub functions: Vec<FunctionEntry<'a>>,
    constants: Vec<ConstantEntry<'a>>,
    types: Vec<TypeEntry<'a>>,
    functions_by_name: Names<'a>,
    constants_by_name: Names<'a>,
    types_by_name: Names<'a>,
    /// Methods of trait implementations, by name, wherever they stand.
    implementations: HashMap<&'a str, Vec<usize>>,
    /// The type of the block around each function.
    owners: Vec<Option<usize>>,
    /// The trait that the block around each function implements.
    traits: Vec<Option<usize>>,
    modules: Modules<'a>,
    /// For each package, itself and the packages of the run that it depends on.
    reachable: Vec<Vec<Option<usize>>>,
    /// For each package, the libraries of the run that its code can name, by that name.
    crates: Vec<Vec<(String, usize)>>,
    /// For each package, the names of all its dependencies.
    dependencies: Vec<Vec<String>>,
    /// Which types implement which traits, as far as methods show it.
    implemented: HashSet<(usize, usize)>,
    /// Every name that something in the run has, by declaration or by a renaming import.
    names: HashSet<&'a str>,
    /// What tables of databases, their columns and rows are called; most names are none of these.
    table_names: HashSet<&'a str>,
    known_targets: paths::Known,
    known_types: types::Known,
}

/// What has a name, by the package that declares it. A name is looked up in the own package and in its
/// dependencies, so that namesakes elsewhere neither mislead nor cost time.
type Names<'a> = HashMap<(Option<usize>, &'a str), Vec<usize>>;

#[derive(Clone, Copy)]
pub struct FunctionEntry<'a> {
    pub unit: usize,
    pub function: &'a Function,
    module: ModuleId,
}

#[derive(Clone, Copy)]
pub struct ConstantEntry<'a> {
    pub unit: usize,
    pub constant: &'a Constant,
    module: ModuleId,
}

#[derive(Clone, Copy)]
pub struct TypeEntry<'a> {
    pub unit: usize,
    pub definition: &'a TypeDefinition,
    module: ModuleId,
}

impl FunctionEntry<'_> {
    pub fn scope(&self) -> Scope {
        Scope { unit: self.unit, module: self.module }
    }
}

impl ConstantEntry<'_> {
    pub fn scope(&self) -> Scope {
        Scope { unit: self.unit, module: self.module }
    }
}

impl TypeEntry<'_> {
    pub fn scope(&self) -> Scope {
        Scope { unit: self.unit, module: self.module }
    }
}

impl<'a> Program<'a> {
    pub fn new(units: &'a [SourceUnit<'a>], packages: &[Package]) -> Self {
        let crates = super::packages::crates(packages);
        let mut program = Self {
            units,
            functions: Vec::new(),
            constants: Vec::new(),
            types: Vec::new(),
            functions_by_name: HashMap::new(),
            constants_by_name: HashMap::new(),
            types_by_name: HashMap::new(),
            implementations: HashMap::new(),
            owners: Vec::new(),
            traits: Vec::new(),
            modules: Modules::new(units, packages),
            reachable: super::packages::reachable(&crates),
            dependencies: packages
                .iter()
                .map(|package| package.dependencies.iter().map(|other| other.name.clone()).collect())
                .collect(),
            crates,
            implemented: HashSet::new(),
            names: HashSet::new(),
            table_names: tables::names(units),
            known_targets: paths::Known::default(),
            known_types: types::Known::default(),
        };
        for unit in 0..units.len() {
            program.declare(unit);
        }
        program.collect_names();
        program.find_owners();
        program
    }

    fn declare(&mut self, unit: usize) {
        let SourceUnit { package, facts, .. } = self.units[unit];
        for function in &facts.functions {
            let (at, module) = (self.functions.len(), self.modules.inner(unit, &function.module));
            if function.owner.is_none() {
                self.modules.all[module].functions.entry(&function.name).or_default().push(at);
            }
            self.functions_by_name.entry((package, &function.name)).or_default().push(at);
            self.functions.push(FunctionEntry { unit, function, module });
        }
        for constant in &facts.constants {
            let (at, module) = (self.constants.len(), self.modules.inner(unit, &constant.module));
            if constant.owner.is_none() {
                self.modules.all[module].constants.entry(&constant.name).or_default().push(at);
            }
            self.constants_by_name.entry((package, &constant.name)).or_default().push(at);
            self.constants.push(ConstantEntry { unit, constant, module });
        }
        for definition in &facts.types {
            let (at, module) = (self.types.len(), self.modules.inner(unit, &definition.module));
            self.modules.all[module].types.entry(&definition.name).or_default().push(at);
            self.types_by_name.entry((package, &definition.name)).or_default().push(at);
            self.types.push(TypeEntry { unit, definition, module });
        }
    }

    fn collect_names(&mut self) {
        let Self { functions_by_name, constants_by_name, types_by_name, .. } = &*self;
        let declared = functions_by_name.keys().chain(constants_by_name.keys()).chain(types_by_name.keys());
        let mut names: HashSet<&str> = declared.map(|(_, name)| *name).collect();
        let imports = self.units.iter().flat_map(|unit| &unit.facts.uses);
        names.extend(
            imports.filter(|import| import.path.last() != Some(&import.name)).map(|i| i.name.as_str()),
        );
        self.names = names;
    }

    /// Whether a path can name something of the run at all. Most paths do not, and cost nothing more.
    fn is_known(&self, path: &[String]) -> bool {
        path.last().is_some_and(|name| self.names.contains(name.as_str()))
    }

    fn find_owners(&mut self) {
        let named = |program: &Self, entry: &FunctionEntry<'a>, name: Option<&String>| {
            name.and_then(|name| program.type_at(entry.scope(), std::slice::from_ref(name)))
        };
        let owners = |program: &Self| {
            program
                .functions
                .iter()
                .map(|entry| named(program, entry, entry.function.owner.as_ref()))
                .collect()
        };
        let traits = |program: &Self| {
            program
                .functions
                .iter()
                .map(|entry| named(program, entry, entry.function.implements.as_ref()))
                .collect()
        };
        self.owners = owners(self);
        self.traits = traits(self);
        for (at, entry) in self.functions.iter().enumerate() {
            if let Some(of) = self.traits[at]
                && entry.function.owner != entry.function.implements
            {
                self.implemented.extend(self.owners[at].map(|owner| (owner, of)));
                self.implementations.entry(&entry.function.name).or_default().push(at);
            }
        }
    }

    pub fn scope_of_unit(&self, unit: usize) -> Scope {
        Scope { unit, module: self.modules.of_unit[unit] }
    }

    pub fn unit_of(&self, function: usize) -> &SourceUnit<'a> {
        &self.units[self.functions[function].unit]
    }

    pub fn is_test(&self, function: usize) -> bool {
        self.unit_of(function).is_test || self.functions[function].function.is_test
    }

    /// Such as `Outbox::sent`.
    pub fn qualified_name(&self, function: usize) -> String {
        let function = self.functions[function].function;
        match &function.owner {
            Some(owner) if !owner.is_empty() => format!("{owner}::{}", function.name),
            _ => function.name.clone(),
        }
    }

    /// The functions of a name that a file can mean, those of its own package first.
    pub fn named<'n>(&'n self, from: usize, name: &'n str) -> impl Iterator<Item = usize> + 'n {
        self.lookup(&self.functions_by_name, from, name)
    }

    /// As [`Program::named`], with the methods of that name that implement a trait which the file can know.
    pub fn methods_named<'n>(&'n self, from: usize, name: &'n str) -> impl Iterator<Item = usize> + 'n {
        let elsewhere = self.implementations.get(name).into_iter().flatten().copied();
        let elsewhere = elsewhere.filter(move |&function| {
            let of = self.traits[function].map(|of| self.units[self.types[of].unit].package);
            !self.reaches(from, self.unit_of(function).package) && of.is_some_and(|of| self.reaches(from, of))
        });
        self.named(from, name).chain(elsewhere)
    }

    fn reaches(&self, from: usize, package: Option<usize>) -> bool {
        let own = self.units[from].package;
        own == package
            || own.and_then(|own| self.reachable.get(own)).is_some_and(|reached| reached.contains(&package))
    }

    /// The functions of a name in all packages.
    pub fn named_anywhere<'n>(&'n self, name: &'n str) -> impl Iterator<Item = usize> + 'n {
        self.functions
            .iter()
            .enumerate()
            .filter(move |(_, entry)| entry.function.name == name)
            .map(|(at, _)| at)
    }

    fn lookup<'n>(
        &'n self,
        names: &'n Names<'a>,
        from: usize,
        name: &'n str,
    ) -> impl Iterator<Item = usize> + 'n {
        let own = self.units[from].package;
        let packages = own.and_then(|package| self.reachable.get(package)).map_or(&[][..], Vec::as_slice);
        let alone = packages.is_empty().then_some(own);
        alone
            .into_iter()
            .chain(packages.iter().copied())
            .filter_map(move |package| names.get(&(package, name)))
            .flatten()
            .copied()
    }

    /// Every type of the workspace.
    pub fn types(&self) -> &[TypeEntry<'a>] {
        &self.types
    }

    /// The functions that a path can mean; several only under conditions that exclude each other. `owner`
    /// is what `Self` means where it is written.
    pub fn functions_at(&self, from: Scope, path: &[String], owner: Option<&str>) -> Vec<usize> {
        if let [first, name] = path
            && first == "Self"
        {
            return owner
                .and_then(|owner| self.type_at(from, &[owner.to_owned()]))
                .map(|ty| self.associated(from, ty, name))
                .unwrap_or_default();
        }
        if !self.is_known(path) {
            return Vec::new();
        }
        let targets = self.targets(from.module, path);
        let mut found = Vec::new();
        for target in targets.iter() {
            let Target::Item { module, name, rest } = target else { continue };
            match rest.as_slice() {
                [] => found.extend(
                    self.modules.all[*module].functions.get(name.as_str()).into_iter().flatten().copied(),
                ),
                [method] => {
                    let types = self.modules.all[*module].types.get(name.as_str());
                    found.extend(
                        types.into_iter().flatten().flat_map(|&ty| self.associated(from, ty, method)),
                    );
                }
                _ => {}
            }
        }
        if found.is_empty() && !self.leads_out(from, &targets) {
            found.extend(self.function_by_name(from, path, owner));
        }
        found.dedup();
        found
    }

    /// Whether a path certainly leaves the run, so that a namesake in it is not meant.
    fn leads_out(&self, from: Scope, targets: &[Target]) -> bool {
        let foreign = |name: &String| {
            let package = self.units[from.unit].package;
            let known = package.and_then(|package| self.dependencies.get(package));
            matches!(name.as_str(), "std" | "core" | "alloc") || known.is_some_and(|all| all.contains(name))
        };
        targets.iter().any(
            |target| matches!(target, Target::External(path) if path.len() > 1 && path.first().is_some_and(foreign)),
        )
    }

    /// The only namesake that a path can mean.
    fn function_by_name(&self, from: Scope, path: &[String], owner: Option<&str>) -> Option<usize> {
        let path = self.full_path(from.module, path);
        if self.leads_into_known(from, &path) {
            return None;
        }
        let name = path.last()?;
        let qualifier = path.len().checked_sub(2).map(|at| path[at].as_str());
        let candidates: Vec<usize> = self
            .named(from.unit, name)
            .filter(|&candidate| self.fits_path(candidate, qualifier, owner, from.unit))
            .collect();
        self.nearest(from.unit, &candidates, |candidate| self.functions[candidate].unit)
    }

    /// Whether a path leads into a module all of whose names are known, so that a namesake elsewhere is not
    /// meant.
    fn leads_into_known(&self, from: Scope, path: &[String]) -> bool {
        let Some((_, module @ [first, ..])) = path.split_last() else { return false };
        let is_own = matches!(first.as_str(), "crate" | "self" | "super");
        is_own
            && self.targets(from.module, module).iter().any(|target| match target {
                Target::Module(module) => self.is_closed(*module),
                _ => false,
            })
    }

    fn is_closed(&self, module: ModuleId) -> bool {
        let globs = &self.modules.all[module].globs;
        self.modules.of_unit.contains(&module)
            && globs.iter().all(|glob| !self.targets(module, &glob.path).is_empty())
    }

    fn fits_path(&self, candidate: usize, qualifier: Option<&str>, owner: Option<&str>, from: usize) -> bool {
        let entry = &self.functions[candidate];
        match (entry.function.owner.as_deref(), qualifier) {
            (Some(of), Some("Self")) => owner == Some(of),
            (Some(of), Some(qualifier)) => {
                of == qualifier || entry.function.implements.as_deref() == Some(qualifier)
            }
            (Some(_), None) => false,
            (None, None) => entry.unit == from || self.glob_imports(from, entry.unit),
            (None, Some(module)) => self.module_fits(entry, module, from),
        }
    }

    /// Whether the module written in front of a name can be the one it is declared in.
    fn module_fits(&self, entry: &FunctionEntry<'a>, module: &str, from: usize) -> bool {
        let unit = &self.units[entry.unit];
        if let Some(inner) = entry.function.module.last() {
            return inner == module || module == "self";
        }
        match module {
            "self" => entry.unit == from,
            "super" | "crate" => unit.package == self.units[from].package,
            _ => file_modules(unit.path).any(|name| name == module) || self.names_package(entry.unit, module),
        }
    }

    fn names_package(&self, unit: usize, name: &str) -> bool {
        // A re-export at the root of another crate: `use worker::release;`.
        let path = self.units[unit].path;
        path.split('/').any(|part| part.replace('-', "_") == name)
    }

    fn glob_imports(&self, from: usize, unit: usize) -> bool {
        let target = &self.units[unit];
        self.units[from].facts.uses.iter().any(|import| {
            import.name == "*"
                && import.path.last().is_some_and(|module| {
                    module == "super"
                        || module == "crate"
                        || file_modules(target.path).any(|name| name == module)
                })
        })
    }

    /// The only candidate in the same file, else in the package, else of all.
    fn nearest(&self, from: usize, candidates: &[usize], unit: impl Fn(usize) -> usize) -> Option<usize> {
        let only = |pool: Vec<usize>| if pool.len() == 1 { pool.first().copied() } else { None };
        let here: Vec<usize> = candidates.iter().copied().filter(|&c| unit(c) == from).collect();
        if !here.is_empty() {
            return only(here);
        }
        let package = self.units[from].package;
        let near: Vec<usize> =
            candidates.iter().copied().filter(|&c| self.units[unit(c)].package == package).collect();
        if near.is_empty() { only(candidates.to_vec()) } else { only(near) }
    }

    /// The constants that a path can mean; several only under conditions that exclude each other.
    pub fn constants_at(&self, from: Scope, path: &[String], owner: Option<&str>) -> Vec<ConstantEntry<'a>> {
        if !self.is_known(path) {
            return Vec::new();
        }
        let targets = self.targets(from.module, path);
        let mut found: Vec<usize> = Vec::new();
        for target in targets.iter() {
            if let Target::Item { module, name, rest } = target
                && rest.is_empty()
            {
                found.extend(self.modules.all[*module].constants.get(name.as_str()).into_iter().flatten());
            }
        }
        if found.is_empty() && !self.leads_out(from, &targets) {
            found.extend(self.constant_by_name(from, path, owner));
        }
        found.into_iter().map(|at| self.constants[at]).collect()
    }

    fn constant_by_name(&self, from: Scope, path: &[String], owner: Option<&str>) -> Option<usize> {
        let path = self.full_path(from.module, path);
        let name = path.last()?;
        let qualifier = path.len().checked_sub(2).map(|at| path[at].as_str());
        let fitting: Vec<usize> = self
            .lookup(&self.constants_by_name, from.unit, name)
            .filter(|&at| match (self.constants[at].constant.owner.as_deref(), qualifier) {
                (Some(of), Some("Self")) => owner == Some(of),
                (Some(of), Some(qualifier)) => of == qualifier,
                (Some(_), None) => false,
                (None, _) => true,
            })
            .collect();
        self.nearest(from.unit, &fitting, |at| self.constants[at].unit)
    }

    fn has_variant(&self, ty: usize, name: &str) -> bool {
        match &self.types[ty].definition.kind {
            TypeKind::Enum { variants } => variants.iter().any(|variant| variant == name),
            _ => false,
        }
    }
}

/// The modules that a file may be: its stem, or its folder for `mod.rs`, `lib.rs` and `main.rs`.
fn file_modules(path: &str) -> impl Iterator<Item = &str> {
    let mut parts = path.rsplit('/');
    let stem = parts.next().and_then(|file| file.strip_suffix(".rs")).unwrap_or("");
    let folder = parts.next().filter(|_| matches!(stem, "mod" | "lib" | "main"));
    std::iter::once(stem).chain(folder)
}
