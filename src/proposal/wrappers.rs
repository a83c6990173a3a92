//! Calls of libraries whose sources are elsewhere and that seem to take, keep and free locks. Wrappers in the
//! project itself need no model: their sources are followed.

mod arguments;
mod receivers;

use std::collections::{BTreeMap, BTreeSet};

use self::receivers::{Known, Outside};
use super::verbs::{Verb, verb};
use crate::check::Survey;
use crate::facts::FileId;
use crate::facts::file::FileFacts;
use crate::facts::rust::{Expr, ExprKind, RustFile};
use crate::facts::walk::each_expr;
use crate::resolve::Models;

/// A library, or one of its types.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrapper {
    /// Its name in code.
    pub(super) library: String,
    /// Types whose methods are called.
    pub(super) connections: BTreeSet<String>,
    pub(super) methods: Vec<Call>,
    pub(super) functions: Vec<Call>,
}

/// A call, as its arguments look where it was seen first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    /// Of a function, with the segment in front.
    pub(super) name: String,
    pub(super) verb: Verb,
    pub(super) key: usize,
    pub(super) value: Option<usize>,
    pub(super) ttl: Option<usize>,
    pub(super) in_milliseconds: bool,
    /// `path:line`.
    pub(super) place: String,
}

#[derive(Default)]
struct Found {
    connections: BTreeSet<String>,
    methods: BTreeMap<String, Call>,
    functions: BTreeMap<String, Call>,
}

pub(super) fn seen(survey: &Survey, models: &Models) -> Vec<Wrapper> {
    let rust = || {
        survey.parsed.iter().filter_map(|file| match &*file.facts {
            FileFacts::Rust(facts) => Some((file.file, facts)),
            _ => None,
        })
    };
    let known = Known::new(survey, models, rust().map(|(_, facts)| facts));
    let mut found: BTreeMap<String, Found> = BTreeMap::new();
    for (file, facts) in rust() {
        look_at(survey, file, facts, &known, &mut found);
    }
    let all = found.into_iter().map(|(library, found)| Wrapper {
        library,
        connections: found.connections,
        methods: found.methods.into_values().collect(),
        functions: found.functions.into_values().collect(),
    });
    all.filter(Wrapper::takes_locks).collect()
}

impl Wrapper {
    fn takes_locks(&self) -> bool {
        self.methods.iter().chain(&self.functions).any(|call| call.verb.takes())
    }
}

fn look_at(
    survey: &Survey,
    file: FileId,
    facts: &RustFile,
    known: &Known<'_>,
    found: &mut BTreeMap<String, Found>,
) {
    for function in facts.functions.iter().filter(|function| !function.is_test) {
        let Some(body) = &function.body else { continue };
        let types = known.types_in(facts, function, body);
        each_expr(body, &mut |expr| match &expr.kind {
            ExprKind::MethodCall { receiver, method, method_span, args, .. } => {
                let Some(Outside { library, name: Some(connection) }) = types.of(receiver) else { return };
                let place = place(survey, file, method_span.start);
                if let Some(call) = call(method, method, args, place) {
                    let found = found.entry(library).or_default();
                    found.connections.insert(connection);
                    found.methods.entry(call.name.clone()).or_insert(call);
                }
            }
            ExprKind::Call { callee, args } => {
                let Some((library, path)) = known.function(facts, callee) else { return };
                let last = path.rsplit("::").next().unwrap_or_default();
                let place = place(survey, file, expr.span.start);
                if let Some(call) = call(&path, last, args, place) {
                    let found = found.entry(library).or_default();
                    found.functions.entry(call.name.clone()).or_insert(call);
                }
            }
            _ => {}
        });
    }
}

fn call(name: &str, last: &str, args: &[Expr], place: String) -> Option<Call> {
    let verb = verb(last)?;
    let arguments::Roles { key, value, ttl, in_milliseconds } = arguments::roles(verb, args)?;
    Some(Call { name: name.to_owned(), verb, key, value, ttl, in_milliseconds, place })
}

fn place(survey: &Survey, file: FileId, offset: u32) -> String {
    format!("{}:{}", survey.sources.path(file), survey.sources.position(file, offset).line)
}
