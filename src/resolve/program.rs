//! The program as the text shows it: every function, constant and type of the run by name, and the
//! resolution of a written name to one of them.

use std::collections::HashMap;
use std::rc::Rc;

use crate::facts::FileId;
use crate::facts::rust::{Constant, Function, RustFile, Type, TypeDefinition, TypeForm, TypeKind};

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

pub struct Program<'a> {
    pub units: &'a [SourceUnit<'a>],
    pub functions: Vec<FunctionEntry<'a>>,
    by_name: Names<'a, usize>,
    constants: Names<'a, ConstantEntry<'a>>,
    types: Names<'a, TypeEntry<'a>>,
    /// For each package, itself and the packages of the run that it depends on.
    reachable: Vec<Vec<Option<usize>>>,
}

/// What has a name, by the package that declares it. A name is looked up in the own package and in its
/// dependencies, so that namesakes elsewhere neither mislead nor cost time.
type Names<'a, T> = HashMap<(Option<usize>, &'a str), Vec<T>>;

#[derive(Clone, Copy)]
pub struct FunctionEntry<'a> {
    pub unit: usize,
    pub function: &'a Function,
}

#[derive(Clone, Copy)]
pub struct ConstantEntry<'a> {
    pub unit: usize,
    pub constant: &'a Constant,
}

#[derive(Clone, Copy)]
pub struct TypeEntry<'a> {
    pub unit: usize,
    pub definition: &'a TypeDefinition,
}

/// Types that stand for what they hold when a method or field is looked up.
const TRANSPARENT: &[&str] = &[
    "Arc",
    "Rc",
    "Box",
    "Result",
    "Option",
    "RedisResult",
    "Mutex",
    "RwLock",
    "RefCell",
    "MutexGuard",
    "Pin",
    "LazyLock",
    "OnceLock",
    "OnceCell",
    "Lazy",
    "Cow",
    "State",
    "Data",
    "Extension",
];

impl<'a> Program<'a> {
    /// `dependencies` holds, for each package, the packages of the run that it depends on.
    pub fn new(units: &'a [SourceUnit<'a>], dependencies: &[Vec<usize>]) -> Self {
        let mut program = Self {
            units,
            functions: Vec::new(),
            by_name: HashMap::new(),
            constants: HashMap::new(),
            types: HashMap::new(),
            reachable: dependencies
                .iter()
                .enumerate()
                .map(|(own, others)| std::iter::once(own).chain(others.iter().copied()).map(Some).collect())
                .collect(),
        };
        for (unit, source) in units.iter().enumerate() {
            let package = source.package;
            for function in &source.facts.functions {
                program.by_name.entry((package, &function.name)).or_default().push(program.functions.len());
                program.functions.push(FunctionEntry { unit, function });
            }
            for constant in &source.facts.constants {
                program
                    .constants
                    .entry((package, &constant.name))
                    .or_default()
                    .push(ConstantEntry { unit, constant });
            }
            for definition in &source.facts.types {
                program
                    .types
                    .entry((package, &definition.name))
                    .or_default()
                    .push(TypeEntry { unit, definition });
            }
        }
        program
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
        self.lookup(&self.by_name, from, name).copied()
    }

    /// The functions of a name in all packages.
    pub fn named_anywhere<'n>(&'n self, name: &'n str) -> impl Iterator<Item = usize> + 'n {
        self.functions
            .iter()
            .enumerate()
            .filter(move |(_, entry)| entry.function.name == name)
            .map(|(at, _)| at)
    }

    fn lookup<'n, T>(
        &'n self,
        names: &'n Names<'a, T>,
        from: usize,
        name: &'n str,
    ) -> impl Iterator<Item = &'n T> + 'n {
        let own = self.units[from].package;
        let packages = own.and_then(|package| self.reachable.get(package)).map_or(&[][..], Vec::as_slice);
        let alone = packages.is_empty().then_some(own);
        alone
            .into_iter()
            .chain(packages.iter().copied())
            .filter_map(move |package| names.get(&(package, name)))
            .flatten()
    }

    /// The function that a path names where it is written in `from`; `owner` is what `Self` means there.
    pub fn function_at(&self, from: usize, path: &[String], owner: Option<&str>) -> Option<usize> {
        let path = self.expand_use(from, path);
        let name = path.last()?;
        let qualifier = path.len().checked_sub(2).map(|at| path[at].as_str());
        let candidates: Vec<usize> = self
            .named(from, name)
            .filter(|&candidate| self.fits_path(candidate, &path, qualifier, owner, from))
            .collect();
        self.nearest(from, &candidates, |candidate| self.functions[candidate].unit)
    }

    fn fits_path(
        &self,
        candidate: usize,
        path: &[String],
        qualifier: Option<&str>,
        owner: Option<&str>,
        from: usize,
    ) -> bool {
        let entry = &self.functions[candidate];
        match (entry.function.owner.as_deref(), qualifier) {
            (Some(of), Some("Self")) => owner == Some(of),
            (Some(of), Some(qualifier)) => {
                of == qualifier || entry.function.implements.as_deref() == Some(qualifier)
            }
            (Some(_), None) => false,
            (None, None) => entry.unit == from || self.glob_imports(from, entry.unit),
            (None, Some(_)) => self.module_fits(entry, path, from),
        }
    }

    /// Whether the modules written in front of a name can be the ones it is declared in.
    fn module_fits(&self, entry: &FunctionEntry<'a>, path: &[String], from: usize) -> bool {
        let unit = &self.units[entry.unit];
        let Some(module) = path.len().checked_sub(2).map(|at| path[at].as_str()) else { return true };
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

    /// Puts the path that a `use` gives the first segment in front of the rest.
    fn expand_use(&self, from: usize, path: &[String]) -> Vec<String> {
        let Some(first) = path.first() else { return Vec::new() };
        let import = self.units[from].facts.uses.iter().find(|import| import.name == *first);
        match import {
            Some(import) => import.path.iter().chain(&path[1..]).cloned().collect(),
            None => path.to_vec(),
        }
    }

    /// The full path of a written name, as far as `use` declarations show it.
    pub fn full_path(&self, from: usize, path: &[String]) -> Vec<String> {
        self.expand_use(from, path)
    }

    /// The candidate in the same file, else the only one of the package, else the only one of all.
    fn nearest(&self, from: usize, candidates: &[usize], unit: impl Fn(usize) -> usize) -> Option<usize> {
        let only = |pool: Vec<usize>| if pool.len() == 1 { pool.first().copied() } else { None };
        let here: Vec<usize> = candidates.iter().copied().filter(|&c| unit(c) == from).collect();
        if !here.is_empty() {
            return here.first().copied();
        }
        let package = self.units[from].package;
        let near: Vec<usize> =
            candidates.iter().copied().filter(|&c| self.units[unit(c)].package == package).collect();
        if near.is_empty() { only(candidates.to_vec()) } else { only(near) }
    }

    /// The method of this name on a value of type `ty`; all implementations when `ty` is a trait.
    pub fn methods(&self, from: usize, ty: &Type, name: &str) -> Vec<usize> {
        let ty = self.peeled(from, ty);
        let wanted = ty.name();
        let mut own = Vec::new();
        let mut of_trait = Vec::new();
        for candidate in self.named(from, name) {
            let function = self.functions[candidate].function;
            if !function.has_self || function.body.is_none() {
                continue;
            }
            if function.owner.as_deref() == Some(wanted) {
                own.push(candidate);
            } else if function.implements.as_deref() == Some(wanted) && ty.kind != TypeForm::Path {
                of_trait.push(candidate);
            }
        }
        if own.is_empty() {
            of_trait
        } else {
            own.truncate(1);
            own
        }
    }

    /// A method whose receiver's type is not known: the only one of that name in the package.
    pub fn only_method(&self, from: usize, name: &str, args: usize) -> Option<usize> {
        let package = self.units[from].package;
        let mut candidates = self.named(from, name).filter(|&candidate| {
            let entry = &self.functions[candidate];
            entry.function.has_self
                && entry.function.body.is_some()
                && entry.function.params.len() == args
                && self.units[entry.unit].package == package
        });
        let first = candidates.next()?;
        candidates.next().is_none().then_some(first)
    }

    pub fn type_named(&self, from: usize, name: &str) -> Option<TypeEntry<'a>> {
        let mut first = None;
        for entry in self.lookup(&self.types, from, name) {
            if entry.unit == from {
                return Some(*entry);
            }
            first = first.or(Some(*entry));
        }
        first
    }

    pub fn field_type(&self, from: usize, ty: &Type, field: &str) -> Option<Rc<Type>> {
        let ty = self.peeled(from, ty);
        let entry = self.type_named(from, ty.name())?;
        match &entry.definition.kind {
            TypeKind::Struct { fields } => {
                fields.iter().find(|candidate| candidate.name == field).map(|field| Rc::new(field.ty.clone()))
            }
            _ => None,
        }
    }

    /// The type behind smart pointers, results and aliases.
    pub fn peeled(&self, from: usize, ty: &Type) -> Type {
        let mut ty = ty.clone();
        for _ in 0..8 {
            let transparent = TRANSPARENT.contains(&ty.name());
            if transparent && let Some(inner) = ty.args.first() {
                ty = inner.clone();
                continue;
            }
            match self.type_named(from, ty.name()).map(|entry| &entry.definition.kind) {
                Some(TypeKind::Alias(target)) if target.name() != ty.name() => ty = target.clone(),
                _ => break,
            }
        }
        ty
    }

    pub fn constant_at(
        &self,
        from: usize,
        path: &[String],
        owner: Option<&str>,
    ) -> Option<ConstantEntry<'a>> {
        let path = self.expand_use(from, path);
        let name = path.last()?;
        let qualifier = path.len().checked_sub(2).map(|at| path[at].as_str());
        let entries: Vec<ConstantEntry<'a>> = self.lookup(&self.constants, from, name).copied().collect();
        let fitting: Vec<usize> = (0..entries.len())
            .filter(|&at| match (entries[at].constant.owner.as_deref(), qualifier) {
                (Some(of), Some("Self")) => owner == Some(of),
                (Some(of), Some(qualifier)) => of == qualifier,
                (Some(_), None) => false,
                (None, _) => true,
            })
            .collect();
        let at = self.nearest(from, &fitting, |at| entries[at].unit)?;
        entries.get(at).copied()
    }
}

/// The modules that a file may be: its stem, or its folder for `mod.rs`, `lib.rs` and `main.rs`.
fn file_modules(path: &str) -> impl Iterator<Item = &str> {
    let mut parts = path.rsplit('/');
    let stem = parts.next().and_then(|file| file.strip_suffix(".rs")).unwrap_or("");
    let folder = parts.next().filter(|_| matches!(stem, "mod" | "lib" | "main"));
    std::iter::once(stem).chain(folder)
}
