//! Which further files are needed: those that define what the parsed files use, and those that use the
//! functions which act on locks.
//!
//! It works on names alone. Asking for a file too many costs time, asking for one too few costs knowledge.

mod common_names;
mod search;
mod token_sources;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use self::search::{Hit, Search};
use self::search::{Wanted, is_own_crate};
use self::token_sources::sources_of_tokens;

use crate::facts::file::{FileFacts, ParsedFile};
use crate::facts::rust::{Constant, Expr, ExprKind, Function, RustFile, Type, TypeKind};
use crate::facts::walk::{each_expr, each_part};
use crate::locks::naming::words;
use crate::resolve::{Models, acts_on_store, is_row_lease, runs_sql, takes_row_lease, takes_session};
use crate::sources::Interest;
use crate::sql::looks_like_statement;

/// Words in names of helpers that look at what a statement has done.
const ROW_HELPERS: &[&str] = &["rows", "affected"];

/// Words in names of helpers that read a clock: `now_ms`, `epoch_millis`, `current_timestamp`.
const CLOCK_HELPERS: &[&str] = &["now", "clock", "timestamp", "epoch", "millis", "unix"];

/// What the files of each package ask for and offer.
#[derive(Default)]
pub(super) struct Demand {
    packages: BTreeMap<Option<usize>, Names>,
}

#[derive(Default)]
struct Names {
    used: BTreeSet<String>,
    defined: BTreeSet<String>,
    /// Functions that act on locks or take leases of rows, and their callers: whoever calls them holds the
    /// locks.
    acting: BTreeSet<String>,
    /// Those of them that implement a trait: code that knows the trait alone calls them.
    behind_traits: BTreeSet<String>,
    /// Modules that files with locks open by a glob: what these re-export is needed.
    opened: BTreeSet<String>,
    /// Functions and constants that such files import from modules of their own crate, with the module.
    imported: BTreeSet<(String, String)>,
    /// Functions that run statements on the connection or transaction of their caller.
    in_session: BTreeSet<String>,
    /// Constants that hold statements, which run where the constants are used.
    texts: BTreeSet<String>,
}

impl Demand {
    pub(super) fn add<'f>(
        &mut self,
        models: &Models,
        files: impl Iterator<Item = (Option<usize>, Option<&'f Interest>, &'f ParsedFile)>,
    ) {
        for (package, interest, file) in files {
            let FileFacts::Rust(facts) = &*file.facts else { continue };
            let names = self.packages.entry(package).or_default();
            names.define(facts);
            names.note_texts(facts);
            match interest {
                Some(Interest::Lock) => {
                    names.ask_for_lock(models, facts);
                    names.open_globs(facts);
                    names.note_imports(facts);
                }
                Some(Interest::Statement) => names.ask_for_statement(models, facts),
                Some(Interest::Signal) | None => names.ask_as_helper(models, facts),
            }
            names.follow_sessions(models, facts);
            names.follow_renames(facts);
        }
    }

    /// For each package, a search for the definitions and uses that are still wanted: by itself, by the
    /// packages that depend on it (definitions), and of those it depends on (uses). `dependencies` holds
    /// pairs of packages, the dependent first.
    pub(super) fn searches(&self, dependencies: &[(usize, usize)]) -> BTreeMap<Option<usize>, Search> {
        let ends = dependencies.iter().flat_map(|&(from, to)| [Some(from), Some(to)]);
        let packages: BTreeSet<Option<usize>> = self.packages.keys().copied().chain(ends).collect();
        let offered = self.offered(dependencies);
        packages
            .into_iter()
            .filter_map(|package| {
                let mut wanted = self.wanted_in(package, dependencies);
                let traits_from = dependencies.iter().filter(|(from, _)| Some(*from) == package);
                let traits_from = traits_from.map(|&(_, to)| to).chain(package);
                wanted.uses.extend(traits_from.filter_map(|at| offered.get(&at)).flatten());
                Some((package, wanted.search()?))
            })
            .collect()
    }

    /// For each package, the methods that packages depending on it may offer behind its traits.
    fn offered(&self, dependencies: &[(usize, usize)]) -> BTreeMap<usize, BTreeSet<&String>> {
        let mut offered: BTreeMap<usize, BTreeSet<&String>> = BTreeMap::new();
        for &(from, to) in dependencies {
            if let Some(names) = self.packages.get(&Some(from)) {
                offered.entry(to).or_default().extend(&names.behind_traits);
            }
        }
        offered
    }

    fn wanted_in(&self, package: Option<usize>, dependencies: &[(usize, usize)]) -> Wanted<'_> {
        let mut wanted = Wanted::default();
        if let Some(own) = self.packages.get(&package) {
            wanted.definitions.extend(own.used.difference(&own.defined));
            wanted.uses.extend(own.acting.union(&own.in_session).chain(&own.texts));
            wanted.opened.extend(&own.opened);
            wanted.imported.extend(&own.imported);
            wanted.programs |= !own.acting.is_empty();
        }
        for &(from, to) in dependencies {
            if Some(to) == package
                && let Some(dependent) = self.packages.get(&Some(from))
            {
                wanted.definitions.extend(dependent.used.difference(&dependent.defined));
            }
            if Some(from) == package
                && let Some(dependency) = self.packages.get(&Some(to))
            {
                wanted.uses.extend(&dependency.acting);
                wanted.programs |= !dependency.acting.is_empty();
            }
        }
        wanted
    }
}

impl Names {
    fn define(&mut self, facts: &RustFile) {
        self.defined.extend(facts.functions.iter().map(|function| function.name.clone()));
        self.defined.extend(facts.constants.iter().map(|constant| constant.name.clone()));
        self.defined.extend(facts.types.iter().map(|definition| definition.name.clone()));
    }

    /// A name that a re-export gives is defined under another.
    fn follow_renames(&mut self, facts: &RustFile) {
        for import in &facts.uses {
            if self.used.contains(&import.name)
                && let Some(name) = import.path.last().filter(|name| **name != import.name)
            {
                self.used.insert(name.clone());
            }
        }
    }

    fn open_globs(&mut self, facts: &RustFile) {
        let globs = facts.uses.iter().filter(|import| import.name == "*");
        let modules = globs.filter_map(|import| import.path.last());
        self.opened
            .extend(modules.filter(|name| !matches!(name.as_str(), "super" | "self" | "crate")).cloned());
    }

    /// What a path says of its module holds for short names, too.
    fn note_imports(&mut self, facts: &RustFile) {
        let paths = facts.uses.iter().map(|import| &import.path);
        let is_own = |first: &String| is_own_crate(first) || facts.modules.iter().any(|m| m.name == *first);
        for path in paths.filter(|path| path.first().is_some_and(is_own)) {
            if let [.., module, name] = path.as_slice() {
                self.imported.insert((module.clone(), name.clone()));
            }
        }
        for function in facts.functions.iter().filter(|function| !function.is_test) {
            self.imported.extend(paths_of_modules(function));
        }
    }

    /// Functions with lock operations need all they use, and are needed by all who use them.
    fn ask_for_lock(&mut self, models: &Models, facts: &RustFile) {
        for function in facts.functions.iter().filter(|function| acts_on_store(models, facts, function)) {
            self.use_all(function);
            if !function.is_test {
                self.acting.insert(function.name.clone());
                if function.implements.is_some() {
                    self.behind_traits.insert(function.name.clone());
                }
            }
        }
        // A script in a constant acts where the constant is used.
        let scripts =
            facts.constants.iter().filter(|constant| !constant.is_test && may_hold_script(constant));
        self.acting.extend(scripts.map(|constant| constant.name.clone()));
        for definition in &facts.types {
            if let TypeKind::Struct { fields } = &definition.kind {
                fields.iter().for_each(|field| self.use_type(&field.ty));
            }
        }
        self.used.extend(facts.functions.iter().filter_map(|function| function.owner.clone()));
    }

    fn note_texts(&mut self, facts: &RustFile) {
        let constants = facts.constants.iter().filter(|constant| !constant.is_test);
        self.texts.extend(constants.filter(|c| holds_statement(c)).map(|constant| constant.name.clone()));
    }

    /// A file with statements needs their texts, what looks at their counts, whose time they are given, and
    /// where the tokens come from.
    fn ask_for_statement(&mut self, models: &Models, facts: &RustFile) {
        let leases = facts.constants.iter().filter(|constant| !constant.is_test && is_row_lease(constant));
        self.acting.extend(leases.map(|constant| constant.name.clone()));
        let locks_session = names_session_lock(facts);
        for function in &facts.functions {
            if locks_session || hands_on_statement(models, function) {
                self.use_all(function);
            }
            // `impl<C: Clock> Rooms<C>`: the trait stands for the clock.
            let bounds = function.generics.iter().flat_map(|generic| &generic.bounds);
            self.used.extend(
                bounds.filter(|bound| names_clock(bound.name())).map(|bound| bound.name().to_owned()),
            );
            let acts = || {
                takes_row_lease(function)
                    || mentioned(function).iter().any(|name| self.acting.contains(*name))
            };
            if !function.is_test && acts() {
                self.acting.insert(function.name.clone());
                self.use_fields(facts, function);
            }
            self.used.extend(sources_of_tokens(function));
            for name in mentioned(function) {
                let is_constant = name.chars().all(|c| c.is_uppercase() || c == '_' || c.is_numeric());
                if is_constant || ROW_HELPERS.iter().any(|word| name.contains(word)) || names_clock(name) {
                    self.used.insert(name.to_owned());
                }
            }
        }
    }

    /// A file that was asked for needs what the wanted functions use; and callers have callers.
    fn ask_as_helper(&mut self, models: &Models, facts: &RustFile) {
        let runs_text =
            |function: &Function| mentioned(function).iter().any(|name| self.texts.contains(*name));
        if facts.functions.iter().any(runs_text) {
            self.ask_for_statement(models, facts);
        }
        let mut acts = false;
        for function in &facts.functions {
            if !function.is_test && mentioned(function).iter().any(|name| self.acting.contains(*name)) {
                self.acting.insert(function.name.clone());
                self.use_all(function);
                acts = true;
            } else if self.used.contains(&function.name) {
                self.use_all(function);
            }
        }
        if acts {
            self.note_imports(facts);
        }
    }

    /// What a transaction has done before a statement is known to those who hand it over.
    fn follow_sessions(&mut self, models: &Models, facts: &RustFile) {
        for function in facts.functions.iter().filter(|function| !function.is_test) {
            let hands_on = || mentioned(function).iter().any(|name| self.in_session.contains(*name));
            if takes_session(function) && (runs_sql(models, facts, function) || hands_on()) {
                self.in_session.insert(function.name.clone());
            }
        }
    }

    fn use_all(&mut self, function: &Function) {
        function.params.iter().for_each(|param| self.use_type(&param.ty));
        function.result.iter().for_each(|result| self.use_type(result));
        self.used.extend(mentioned(function).into_iter().map(str::to_owned));
    }

    /// The configuration of a lease is in a field of the type that takes it.
    fn use_fields(&mut self, facts: &RustFile, function: &Function) {
        let own = facts.types.iter().filter(|definition| Some(&definition.name) == function.owner.as_ref());
        for definition in own {
            if let TypeKind::Struct { fields } = &definition.kind {
                fields.iter().for_each(|field| self.use_type(&field.ty));
            }
        }
    }

    fn use_type(&mut self, ty: &Type) {
        self.used.extend(ty.path.last().cloned());
        ty.args.iter().for_each(|arg| self.use_type(arg));
    }
}

fn names_clock(name: &str) -> bool {
    words(name).iter().any(|word| CLOCK_HELPERS.contains(&word.as_str()))
}

/// Whether a function gives the text of a statement to a method that is no client's.
fn hands_on_statement(models: &Models, function: &Function) -> bool {
    let is_text = |arg: &Expr| match &arg.kind {
        ExprKind::Text(text) => looks_like_statement(&text.value),
        _ => false,
    };
    let mut hands_on = false;
    if let Some(body) = &function.body {
        each_expr(body, &mut |expr| {
            if let ExprKind::MethodCall { method, args, .. } = &expr.kind {
                let is_client = models.statement(method).is_some() || models.preparation(method).is_some();
                hands_on |= !is_client && args.iter().any(is_text);
            }
        });
    }
    hands_on
}

/// Whether a constant of the file locks the session: then it matters what the statement is run on.
fn names_session_lock(facts: &RustFile) -> bool {
    let mut names = false;
    for value in facts.constants.iter().filter_map(|constant| constant.value.as_ref()) {
        each_part(value, &mut |part| {
            if let ExprKind::Text(text) = &part.kind {
                let text = text.value.to_ascii_lowercase();
                names |= ["advisory_", "get_lock("].iter().any(|call| text.contains(call));
            }
        });
    }
    names
}

/// `numbers::next`: the module and what is meant in it.
fn paths_of_modules(function: &Function) -> BTreeSet<(String, String)> {
    let mut paths = BTreeSet::new();
    if let Some(body) = &function.body {
        each_expr(body, &mut |expr| {
            if let ExprKind::Path(path) = &expr.kind
                && let [.., module, name] = path.as_slice()
                && module.starts_with(char::is_lowercase)
            {
                paths.insert((module.clone(), name.clone()));
            }
        });
    }
    paths
}

/// Whether a constant holds a statement, or a part of one.
fn holds_statement(constant: &Constant) -> bool {
    let mut holds = false;
    if let Some(value) = &constant.value {
        each_part(value, &mut |part| {
            if let ExprKind::Text(text) = &part.kind {
                holds |= looks_like_statement(&text.value);
            }
        });
    }
    holds
}

fn may_hold_script(constant: &Constant) -> bool {
    const HOLDERS: &[&str] = &["str", "String", "Script", "LazyLock", "Lazy", "OnceLock"];
    constant.ty.as_ref().is_none_or(|ty| HOLDERS.contains(&ty.name()))
}

/// The names of functions, methods, constants and types in a body.
fn mentioned(function: &Function) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    if let Some(body) = &function.body {
        each_expr(body, &mut |expr| match &expr.kind {
            ExprKind::Path(path) => names.extend(path.iter().rev().take(2).map(String::as_str)),
            ExprKind::MethodCall { method, .. } => {
                names.insert(method.as_str());
            }
            _ => {}
        });
    }
    names
}
