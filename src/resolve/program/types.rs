//! Types: what a written type is, what is behind wrappers, aliases and `Deref`, and which functions a
//! method call on it can mean.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::facts::rust::{Expr, ExprKind, Function, Statement, Type, TypeForm, TypeKind};

use super::modules::ModuleId;
use super::paths::{self, Target};
use super::{Program, Scope, TypeEntry};

/// Types that hold many of one other type.
const LISTS: &[&str] = &["Vec", "VecDeque", "SmallVec", "HashSet", "BTreeSet"];

/// Types that stand for one value of another type.
const POINTERS: &[&str] = &["Arc", "Rc", "Box"];

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

/// Wrappers in wrappers are opened so often.
const MAX_WRAPPERS: usize = 8;

/// Types inside types are made absolute this deep.
const MAX_DEPTH: usize = 16;

/// Types in absolute words, by the module where they are written.
pub(super) type Known = RefCell<HashMap<ModuleId, HashMap<Type, Rc<Type>>>>;

impl<'a> Program<'a> {
    /// The type that a path names; the only namesake where no import leads to it.
    pub(super) fn type_at(&self, from: Scope, path: &[String]) -> Option<usize> {
        if !self.is_known(path) {
            return None;
        }
        let targets = self.targets(from.module, path);
        for target in targets.iter() {
            if let Target::Item { module, name, rest } = target
                && rest.is_empty()
                && let Some(found) = self.modules.all[*module].types.get(name.as_str())
            {
                return found.first().copied();
            }
        }
        if self.leads_out(from, &targets) {
            return None;
        }
        let name = path.last()?;
        let mut all = self.lookup(&self.types_by_name, from.unit, name);
        let first = all.next()?;
        all.next().is_none().then_some(first)
    }

    pub fn type_named(&self, from: Scope, ty: &Type) -> Option<TypeEntry<'a>> {
        self.type_at(from, &ty.path).map(|at| self.types[at])
    }

    pub fn type_of_name(&self, from: Scope, name: &str) -> Option<TypeEntry<'a>> {
        self.type_at(from, &[name.to_owned()]).map(|at| self.types[at])
    }

    /// The same type in words that mean the same in every module.
    pub fn absolute(&self, from: Scope, ty: &Type) -> Rc<Type> {
        let known = |types: &HashMap<Type, Rc<Type>>| types.get(ty).cloned();
        if let Some(known) = self.known_types.borrow().get(&from.module).and_then(known) {
            return known;
        }
        let made = Rc::new(self.absolute_within(from, ty, MAX_DEPTH));
        self.known_types.borrow_mut().entry(from.module).or_default().insert(ty.clone(), made.clone());
        made
    }

    fn absolute_within(&self, from: Scope, ty: &Type, depth: usize) -> Type {
        let path = match self.type_at(from, &ty.path) {
            Some(at) => paths::absolute(self.types[at].module, &self.types[at].definition.name),
            None => self.full_path(from.module, &ty.path),
        };
        let args = match depth.checked_sub(1) {
            Some(depth) => ty.args.iter().map(|arg| self.absolute_within(from, arg, depth)).collect(),
            None => Vec::new(),
        };
        Type { kind: ty.kind, path, args }
    }

    pub fn field_type(&self, from: Scope, ty: &Type, field: &str) -> Option<Rc<Type>> {
        let ty = self.peeled(from, ty);
        let entry = self.type_named(from, &ty)?;
        match &entry.definition.kind {
            TypeKind::Struct { fields } => fields
                .iter()
                .find(|candidate| candidate.name == field)
                .map(|field| self.absolute(entry.scope(), &field.ty)),
            _ => None,
        }
    }

    /// The type behind smart pointers, results and aliases.
    pub fn peeled(&self, from: Scope, ty: &Type) -> Type {
        let mut ty = ty.clone();
        for _ in 0..MAX_WRAPPERS {
            let transparent = TRANSPARENT.contains(&ty.name());
            if transparent && let Some(inner) = ty.args.first() {
                ty = inner.clone();
                continue;
            }
            let Some(entry) = self.type_named(from, &ty) else { break };
            match &entry.definition.kind {
                TypeKind::Alias(target) => ty = Type::clone(&self.absolute(entry.scope(), target)),
                _ => break,
            }
        }
        ty
    }

    /// The type of what a list holds.
    pub fn item_type(&self, from: Scope, ty: &Type) -> Option<Rc<Type>> {
        let mut list = ty;
        while POINTERS.contains(&list.name()) {
            list = list.args.first()?;
        }
        let is_list = list.kind == TypeForm::Slice || LISTS.contains(&list.name());
        list.args.first().filter(|_| is_list).map(|item| self.absolute(from, item))
    }

    /// The field that `Deref` of a type leads to.
    pub fn deref_field(&self, from: Scope, ty: &Type) -> Option<&'a str> {
        let ty = self.type_at(from, &self.peeled(from, ty).path)?;
        let package = self.types[ty].unit;
        self.named(package, "deref")
            .filter(|&candidate| self.owners[candidate] == Some(ty))
            .find(|&candidate| self.functions[candidate].function.implements.as_deref() == Some("Deref"))
            .and_then(|candidate| field_of_self(self.functions[candidate].function))
    }

    /// Functions of a type's blocks, with `self` or without; of a trait, its implementations.
    pub(super) fn associated(&self, from: Scope, ty: usize, name: &str) -> Vec<usize> {
        let own: Vec<usize> =
            self.named(from.unit, name).filter(|&candidate| self.owners[candidate] == Some(ty)).collect();
        let of_trait = matches!(self.types[ty].definition.kind, TypeKind::Trait);
        if of_trait {
            return self.of_trait(ty, name);
        }
        if own.is_empty() { self.provided(ty, name) } else { inherent_first(self, own) }
    }

    /// The methods of this name on a value of type `ty`; all implementations when `ty` is a trait.
    pub fn methods(&self, from: Scope, ty: &Type, name: &str) -> Vec<usize> {
        let ty = self.peeled(from, ty);
        let bounds = ty.args.iter().filter(|_| ty.kind != TypeForm::Path);
        for bound in std::iter::once(&ty).chain(bounds) {
            let Some(known) = self.type_at(from, &bound.path) else { continue };
            let mut found = self.associated(from, known, name);
            found.retain(|&candidate| {
                let function = self.functions[candidate].function;
                function.has_self && function.body.is_some()
            });
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// What a call of a trait's method can run: the implementations in code that is no test, and the
    /// provided body unless all of them replace it.
    fn of_trait(&self, of: usize, name: &str) -> Vec<usize> {
        let all = self.implementations.get(name).map_or(&[][..], Vec::as_slice);
        let mut found: Vec<usize> = all
            .iter()
            .copied()
            .filter(|&candidate| self.traits[candidate] == Some(of) && !self.is_test(candidate))
            .collect();
        let provided = self.provided_by(of, name);
        if found.is_empty() {
            found.extend(provided);
        }
        found
    }

    /// Whether a trait's provided body runs nowhere, because every type that implements the trait has its own.
    pub fn is_replaced(&self, function: usize) -> bool {
        let provided = self.functions[function].function;
        let Some(of) = self.owners[function].filter(|_| provided.owner == provided.implements) else {
            return false;
        };
        let own = self.implementations.get(&*provided.name).map_or(&[][..], Vec::as_slice);
        let replaces = |ty: usize| own.iter().any(|&candidate| self.owners[candidate] == Some(ty));
        let mut types =
            self.implemented.iter().filter(|(_, known)| *known == of).map(|(ty, _)| *ty).peekable();
        types.peek().is_some() && types.all(replaces)
    }

    /// The provided body that a type without a method of its own gets from a trait that it implements.
    fn provided(&self, ty: usize, name: &str) -> Vec<usize> {
        let unit = self.types[ty].unit;
        self.named(unit, name)
            .filter(|&candidate| {
                let function = self.functions[candidate].function;
                function.owner.is_some() && function.owner == function.implements && function.body.is_some()
            })
            .filter(|&candidate| self.owners[candidate].is_some_and(|of| self.implements(ty, of)))
            .collect()
    }

    fn provided_by(&self, of: usize, name: &str) -> Option<usize> {
        self.named(self.types[of].unit, name).find(|&candidate| {
            self.owners[candidate] == Some(of) && self.functions[candidate].function.body.is_some()
        })
    }

    fn implements(&self, ty: usize, of: usize) -> bool {
        self.implemented.contains(&(ty, of))
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
}

/// A type's own methods go before those of traits.
fn inherent_first(program: &Program<'_>, all: Vec<usize>) -> Vec<usize> {
    let inherent: Vec<usize> = all
        .iter()
        .copied()
        .filter(|&candidate| program.functions[candidate].function.implements.is_none())
        .collect();
    if inherent.is_empty() { all } else { inherent }
}

/// The field in the body `&self.field`.
fn field_of_self(function: &Function) -> Option<&str> {
    let [Statement::Expr { expr, tail: true }] = function.body.as_ref()?.statements.as_slice() else {
        return None;
    };
    let mut at: &Expr = expr;
    loop {
        match &at.kind {
            ExprKind::Borrow(inner) => at = inner,
            ExprKind::Field { base, name } => {
                let of_self =
                    matches!(&base.kind, ExprKind::Path(path) if path.len() == 1 && path[0] == "self");
                return of_self.then_some(name.as_str());
            }
            _ => return None,
        }
    }
}
