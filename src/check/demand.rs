//! Which further files are needed: those that define what the parsed files use, and those that use the
//! functions which act on locks.
//!
//! It works on names alone. Asking for a file too many costs time, asking for one too few costs knowledge.

use std::collections::{BTreeMap, BTreeSet};

use aho_corasick::{AhoCorasick, MatchKind};

use crate::facts::file::{FileFacts, ParsedFile};
use crate::facts::rust::{ExprKind, RustFile, Type};
use crate::facts::walk::each_expr;
use crate::sources::Interest;

/// Shorter names are everybody's.
const SHORTEST: usize = 4;

/// Names that every crate has; what they mean is not found by name.
const EVERYBODY: &[&str] = &[
    "main",
    "from",
    "into",
    "clone",
    "default",
    "drop",
    "next",
    "iter",
    "push",
    "insert",
    "remove",
    "unwrap",
    "expect",
    "to_string",
    "to_owned",
    "as_ref",
    "as_mut",
    "as_str",
    "unwrap_or",
    "map_err",
    "and_then",
    "collect",
    "with",
    "build",
    "builder",
    "send",
    "recv",
    "poll",
    "read",
    "write",
    "flush",
    "close",
    "open",
    "parse",
    "contains",
    "find",
    "filter",
    "join",
    "spawn",
    "await",
    "Self",
    "Some",
    "None",
    "Error",
    "Result",
    "Option",
    "String",
    "Vec",
    "Box",
    "Arc",
    "first",
    "last",
    "take",
    "name",
    "value",
    "serialize",
    "deserialize",
    "index",
    "extend",
    "deref",
    "is_empty",
    "is_some",
    "is_none",
    "is_ok",
    "is_err",
    "unwrap_or_default",
    "unwrap_or_else",
    "as_bytes",
    "as_slice",
    "to_vec",
    "chars",
    "bytes",
    "lines",
    "split",
    "trim",
    "format",
    "lock",
    "sleep",
    "elapsed",
    "type_id",
    "hash",
    "min",
    "max",
    "sort",
    "keys",
    "values",
    "get_mut",
    "entry",
    "pop",
    "sum",
    "count",
    "starts_with",
    "ends_with",
    "replace",
    "execute",
    "query",
    "bind",
    "fetch",
];

/// What the files of each package ask for and offer.
#[derive(Default)]
pub(super) struct Demand {
    packages: BTreeMap<Option<usize>, Names>,
}

#[derive(Default)]
struct Names {
    used: BTreeSet<String>,
    defined: BTreeSet<String>,
    /// Functions of files with lock operations: their callers hold the locks.
    acting: BTreeSet<String>,
}

impl Demand {
    pub(super) fn add<'f>(
        &mut self,
        files: impl Iterator<Item = (Option<usize>, Option<&'f Interest>, &'f ParsedFile)>,
    ) {
        for (package, interest, file) in files {
            let FileFacts::Rust(facts) = &file.facts else { continue };
            let names = self.packages.entry(package).or_default();
            names.note(facts, interest == Some(&Interest::Lock));
        }
    }

    /// For each package, a search for the definitions and uses that are still wanted.
    pub(super) fn searches(&self) -> BTreeMap<Option<usize>, AhoCorasick> {
        self.packages.iter().filter_map(|(package, names)| Some((*package, names.search()?))).collect()
    }
}

impl Names {
    fn note(&mut self, facts: &RustFile, acts: bool) {
        for function in &facts.functions {
            self.defined.insert(function.name.clone());
            if acts && !function.is_test {
                self.acting.insert(function.name.clone());
            }
            function.params.iter().for_each(|param| self.note_type(&param.ty));
            function.result.iter().for_each(|result| self.note_type(result));
            if let Some(body) = &function.body {
                each_expr(body, &mut |expr| match &expr.kind {
                    ExprKind::Path(path) => self.used.extend(path.last().cloned()),
                    ExprKind::MethodCall { method, .. } => {
                        self.used.insert(method.clone());
                    }
                    _ => {}
                });
            }
        }
        self.defined.extend(facts.constants.iter().map(|constant| constant.name.clone()));
        for definition in &facts.types {
            self.defined.insert(definition.name.clone());
            if let crate::facts::rust::TypeKind::Struct { fields } = &definition.kind {
                fields.iter().for_each(|field| self.note_type(&field.ty));
            }
        }
        self.used.extend(facts.functions.iter().filter_map(|function| function.owner.clone()));
    }

    fn note_type(&mut self, ty: &Type) {
        self.used.extend(ty.path.last().cloned());
        ty.args.iter().for_each(|arg| self.note_type(arg));
    }

    fn search(&self) -> Option<AhoCorasick> {
        let mut needles = Vec::new();
        for name in self.used.difference(&self.defined).filter(|name| is_telling(name)) {
            if name.starts_with(char::is_uppercase) {
                let forms = ["const", "static", "struct", "enum", "type", "trait"];
                needles.extend(forms.iter().map(|form| format!("{form} {name}")));
            } else {
                needles.push(format!("fn {name}"));
            }
        }
        needles.extend(self.acting.iter().filter(|name| is_telling(name)).map(|name| format!("{name}(")));
        if needles.is_empty() {
            return None;
        }
        AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(needles).ok()
    }
}

fn is_telling(name: &str) -> bool {
    name.len() >= SHORTEST && !EVERYBODY.contains(&name)
}
