//! Of which library outside the project the value is that a method is called on. By names, as far as they are
//! written down: parameters, fields, annotated bindings, and what a type's own functions make.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::Survey;
use crate::facts::rust::{
    Block, Expr, ExprKind, Function, Pattern, PatternKind, RustFile, Statement, Type, TypeKind,
};
use crate::facts::walk::each_block;
use crate::resolve::Models;

/// Something of a library whose source is not in the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outside {
    /// Its crate's name in code.
    pub(super) library: String,
    /// The type's.
    pub(super) name: Option<String>,
}

/// What stands around a value and gives way to it.
const AROUND: &[&str] =
    &["Arc", "Rc", "Box", "Option", "Mutex", "RwLock", "Data", "State", "Extension", "Pin", "Cow", "RefCell"];
/// Methods that give what they are called on.
const GIVES_ITSELF: &[&str] =
    &["clone", "as_ref", "as_mut", "get_mut", "borrow", "borrow_mut", "lock", "read", "write", "unwrap"];
/// First segments that lead to no other package.
const OWN: &[&str] = &["crate", "self", "super", "Self", "std", "core", "alloc"];

/// What the project defines itself, and what has a model.
pub(super) struct Known<'a> {
    models: &'a Models,
    packages: BTreeSet<String>,
    types: BTreeSet<&'a str>,
    /// Types of fields, by the name of their struct and their own.
    fields: BTreeMap<(&'a str, &'a str), &'a Type>,
}

impl<'a> Known<'a> {
    pub(super) fn new(
        survey: &Survey,
        models: &'a Models,
        files: impl Iterator<Item = &'a RustFile>,
    ) -> Self {
        let manifests = &survey.packages.manifests;
        let packages = manifests
            .iter()
            .flat_map(|manifest| [manifest.package.clone(), manifest.lib_name.clone()])
            .flatten()
            .map(|name| name.replace('-', "_"))
            .collect();
        let (mut types, mut fields) = (BTreeSet::new(), BTreeMap::new());
        for definition in files.flat_map(|file| &file.types) {
            types.insert(definition.name.as_str());
            if let TypeKind::Struct { fields: own } = &definition.kind {
                let own =
                    own.iter().map(|field| ((definition.name.as_str(), field.name.as_str()), &field.ty));
                fields.extend(own);
            }
        }
        Self { models, packages, types, fields }
    }

    /// The library that a path leads into, when its source is elsewhere and it has no model.
    fn library(&self, file: &RustFile, path: &[String]) -> Option<String> {
        let first = path.first()?;
        let import = file.uses.iter().find(|import| &import.name == first);
        let root = import.and_then(|import| import.path.first()).unwrap_or(first);
        let is_module = file.modules.iter().any(|module| &module.name == root);
        // A type that is not imported is the project's own, or of a prelude.
        let is_elsewhere = import.is_some() || path.len() > 1;
        let is_own = OWN.contains(&root.as_str()) || self.packages.contains(root) || is_module;
        let is_known = self.models.knows(root) || !self.models.of_path(path).is_empty();
        (is_elsewhere && !is_own && !is_known && root.starts_with(char::is_lowercase)).then(|| root.clone())
    }

    fn outside(&self, file: &RustFile, ty: &Type) -> Option<Outside> {
        let ty = innermost(ty);
        let name = ty.name();
        let is_own = self.types.contains(name) || !self.models.of_type(ty).is_empty();
        let library = self.library(file, &ty.path).filter(|_| !is_own)?;
        Some(Outside { library, name: Some(name.to_owned()) })
    }

    /// A function of such a library, by the last two segments of its path.
    pub(super) fn function(&self, file: &RustFile, callee: &Expr) -> Option<(String, String)> {
        let ExprKind::Path(path) = &callee.kind else { return None };
        let library = self.library(file, path)?;
        let (first, rest) = path.split_first()?;
        let import = file.uses.iter().find(|import| &import.name == first);
        let start = import.map_or(std::slice::from_ref(first), |import| &import.path[..]);
        let full: Vec<&str> = start.iter().chain(rest).map(String::as_str).collect();
        let from = full.len().checked_sub(2)?;
        // `Type::new` makes a value, and is no operation.
        let of_type = full[from].starts_with(char::is_uppercase);
        (!of_type).then(|| (library, full[from..].join("::")))
    }

    /// What is written down of the values of one function.
    pub(super) fn types_in(&self, file: &'a RustFile, function: &'a Function, body: &'a Block) -> Types<'_> {
        let mut all = Types { known: self, file, owner: function.owner.as_deref(), named: BTreeMap::new() };
        for param in &function.params {
            let ty = bound(function, &param.ty).unwrap_or(&param.ty);
            all.name(&param.pattern, self.outside(file, ty));
        }
        each_block(body, &mut |block| {
            for statement in &block.statements {
                if let Statement::Let { pattern, ty, value, .. } = statement {
                    let written = ty.as_ref().and_then(|ty| self.outside(file, ty));
                    let made = || value.as_ref().and_then(|value| all.made_by(value));
                    let outside = written.or_else(made);
                    all.name(pattern, outside);
                }
            }
        });
        all
    }
}

/// What a generic parameter is asked to be.
fn bound<'f>(function: &'f Function, ty: &Type) -> Option<&'f Type> {
    function.generics.iter().find(|generic| generic.name == ty.name())?.bounds.first()
}

fn innermost(mut ty: &Type) -> &Type {
    while let Some(inner) = ty.args.first().filter(|_| AROUND.contains(&ty.name())) {
        ty = inner;
    }
    ty
}

/// The values of one function that are known by their names.
pub(super) struct Types<'a> {
    known: &'a Known<'a>,
    file: &'a RustFile,
    owner: Option<&'a str>,
    named: BTreeMap<&'a str, Outside>,
}

impl<'a> Types<'a> {
    fn name(&mut self, pattern: &'a Pattern, outside: Option<Outside>) {
        if let (PatternKind::Name { name, .. }, Some(outside)) = (&pattern.kind, outside) {
            self.named.insert(name, outside);
        }
    }

    /// `Store::connect(url).await?`.
    fn made_by(&self, value: &Expr) -> Option<Outside> {
        let value = bare(value);
        let ExprKind::Call { callee, .. } = &value.kind else { return self.of(value) };
        let ExprKind::Path(path) = &callee.kind else { return None };
        let (_, of) = path.split_last()?;
        let is_type = of.last()?.starts_with(char::is_uppercase);
        let ty = Type { path: of.to_vec(), ..Type::named("") };
        is_type.then(|| self.known.outside(self.file, &ty)).flatten()
    }

    /// Of which library a receiver is.
    pub(super) fn of(&self, receiver: &Expr) -> Option<Outside> {
        match &bare(receiver).kind {
            ExprKind::Path(path) if path.len() == 1 => self.named.get(path[0].as_str()).cloned(),
            ExprKind::Field { base, name } => {
                let ExprKind::Path(path) = &bare(base).kind else { return None };
                let owner = self.owner.filter(|_| path.len() == 1 && path[0] == "self")?;
                let ty = self.known.fields.get(&(owner, name.as_str()))?;
                self.known.outside(self.file, ty)
            }
            _ => None,
        }
    }
}

/// A value without what leaves it the same.
fn bare(mut expr: &Expr) -> &Expr {
    loop {
        expr = match &expr.kind {
            ExprKind::Borrow(inner) | ExprKind::Try(inner) | ExprKind::Await(inner) => inner,
            ExprKind::MethodCall { receiver, method, args, .. }
                if args.is_empty() && GIVES_ITSELF.contains(&method.as_str()) =>
            {
                receiver
            }
            _ => return expr,
        }
    }
}
