//! The order of evaluation: callees before callers, by the names that bodies mention. Iterative, so that a
//! chain of ten thousand functions costs no stack.

use std::collections::HashMap;

use crate::facts::rust::{Expr, ExprKind, Function, Param, Pattern, PatternKind, RustFile, Type};
use crate::facts::walk::each_expr;
use crate::locks::naming::{may_be_token, words};

use super::models::{Libraries, Models};
use super::program::{FunctionEntry, ModuleId, Program, Scope};
use super::row_locks::{is_row_lease, names_row_lock, takes_row_lease};
use crate::locks::vocabulary::{asks_held, says_renewal_interval, says_time_before_end};

/// More namesakes than this say nothing about who is called.
const MAX_NAMESAKES: usize = 6;

/// How many calls below a function of interest its helpers are followed.
const HELPER_DEPTH: usize = 4;

/// The functions that have to do with stores, each behind the functions it may call, as far as that has
/// no cycles.
pub fn callees_first(program: &Program<'_>, models: &Models) -> Vec<usize> {
    let mut imported: HashMap<ModuleId, Imported> = HashMap::new();
    let bodies: Vec<Mentions> = (0..program.functions.len())
        .map(|function| {
            let module = program.functions[function].scope().module;
            let known = imported.entry(module).or_insert_with(|| Imported::of(program, models, module));
            Mentions::of(program, models, known, function)
        })
        .collect();
    let wanted = of_interest(program, &bodies);
    let mut order = Vec::new();
    let mut seen: Vec<bool> = wanted.iter().map(|wanted| !wanted).collect();
    for start in 0..bodies.len() {
        if seen[start] {
            continue;
        }
        seen[start] = true;
        let mut stack = vec![(start, 0)];
        while let Some((function, next)) = stack.pop() {
            match bodies[function].callees.get(next) {
                Some(&callee) => {
                    stack.push((function, next + 1));
                    if !seen[callee] {
                        seen[callee] = true;
                        stack.push((callee, 0));
                    }
                }
                None => order.push(function),
            }
        }
    }
    order
}

/// What the code of a module can use.
struct Imported {
    libraries: Libraries,
    /// A library that puts statements together.
    builder: bool,
}

impl Imported {
    fn of(program: &Program<'_>, models: &Models, module: ModuleId) -> Self {
        let paths = program.imports(module);
        let builder = paths.iter().any(|path| models.is_of_builder(path));
        Self { libraries: models.of_imports(&paths), builder }
    }
}

/// What a body mentions.
#[derive(Default)]
struct Mentions {
    callees: Vec<usize>,
    /// Something that may be an operation on a key-value store.
    lock: bool,
    /// Something that may run SQL.
    statement: bool,
    /// A statement that takes rows whose time is over.
    takes_row: bool,
    /// It is handed the connection or transaction that statements run on, or locks for its callers.
    takes_session: bool,
    /// It decides how often a lease is renewed.
    sets_renewal: bool,
    /// It keeps a token in a new value.
    keeps_token: bool,
    /// It may ask whether a lease is still held.
    asks_held: bool,
}

/// Functions that may act on a key-value store, the other functions of their files (constructors,
/// deadlines), all their callers and those of functions that take leases of rows, functions that keep a token beside others that run SQL, functions that run
/// SQL, those who hand them their transaction or ask for a lease before, and the helpers of all these.
fn of_interest(program: &Program<'_>, bodies: &[Mentions]) -> Vec<bool> {
    let mut units = vec![false; program.units.len()];
    let mut with_statements = vec![false; program.units.len()];
    for (function, mentions) in bodies.iter().enumerate() {
        units[program.functions[function].unit] |= mentions.lock;
        with_statements[program.functions[function].unit] |= mentions.statement;
    }
    let mut wanted = with_callers(bodies, |mentions| mentions.lock || mentions.takes_row, |_| true);
    for (function, wanted) in wanted.iter_mut().enumerate() {
        let (unit, body) = (program.functions[function].unit, &bodies[function]);
        *wanted |= units[unit] || body.sets_renewal || (body.keeps_token && with_statements[unit]);
    }
    add_helpers(bodies, &mut wanted, HELPER_DEPTH);
    let hand_sessions =
        with_callers(bodies, |mentions| mentions.statement, |mentions| mentions.takes_session);
    for (wanted, hands) in wanted.iter_mut().zip(hand_sessions) {
        *wanted |= hands;
    }
    for (function, mentions) in bodies.iter().enumerate() {
        let runs_sql = || mentions.callees.iter().any(|&callee| bodies[callee].statement);
        wanted[function] |= mentions.asks_held && runs_sql();
    }
    add_helpers(bodies, &mut wanted, 1);
    wanted
}

/// The functions that `starts` picks, and everything that leads to them through functions that `carries`
/// picks.
fn with_callers(
    bodies: &[Mentions],
    starts: impl Fn(&Mentions) -> bool,
    carries: impl Fn(&Mentions) -> bool,
) -> Vec<bool> {
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); bodies.len()];
    for (function, mentions) in bodies.iter().enumerate() {
        mentions.callees.iter().for_each(|&callee| callers[callee].push(function));
    }
    let mut reached = vec![false; bodies.len()];
    let mut waiting: Vec<usize> = (0..bodies.len()).filter(|&function| starts(&bodies[function])).collect();
    while let Some(function) = waiting.pop() {
        if !std::mem::replace(&mut reached[function], true) && carries(&bodies[function]) {
            waiting.extend(callers[function].iter().copied().filter(|&caller| !reached[caller]));
        }
    }
    reached
}

/// Adds what the wanted functions call, so many calls deep.
fn add_helpers(bodies: &[Mentions], wanted: &mut [bool], depth: usize) {
    let mut level: Vec<usize> = (0..bodies.len()).filter(|&function| wanted[function]).collect();
    for _ in 0..depth {
        let callees = level.iter().flat_map(|&function| bodies[function].callees.iter().copied());
        level = callees.filter(|&callee| !std::mem::replace(&mut wanted[callee], true)).collect();
    }
}

/// Whether a function may itself act on a key-value store.
pub fn acts_on_store(models: &Models, facts: &RustFile, function: &Function) -> bool {
    let imported = models.imported(facts);
    let mut acts = false;
    if let Some(body) = &function.body {
        each_expr(body, &mut |expr| acts |= may_lock(expr, models, &imported));
    }
    acts
}

/// Whether the callers of a function that runs SQL must be looked at: it runs on a connection or in a
/// transaction that they give it, by a clock that they read, it takes or frees a lock for them, or leaves it to
/// them what a refused write means.
pub fn takes_session(function: &Function) -> bool {
    let given = |param: &Param| is_session(&param.ty) || is_moment(&param.pattern);
    let hands_on_count = function.result.as_ref().is_some_and(holds_count);
    function.params.iter().any(given) || hands_on_count || names_row_lock(function)
}

/// A result that may say how many rows a statement has changed, or whether it has changed any.
fn holds_count(ty: &Type) -> bool {
    let name = ty.name();
    matches!(name, "u64" | "usize" | "bool")
        || name.ends_with("QueryResult")
        || ty.args.iter().any(holds_count)
}

/// A parameter that says when something is, or ends.
fn is_moment(parameter: &Pattern) -> bool {
    const MOMENTS: &[&str] = &["now", "until", "deadline", "expires", "expiry", "expiration"];
    let PatternKind::Name { name, .. } = &parameter.kind else { return false };
    words(name).iter().any(|word| MOMENTS.contains(&word.as_str()))
}

fn is_session(ty: &Type) -> bool {
    const SESSIONS: &[&str] = &["Connection", "Transaction", "Executor", "Client"];
    let name = ty.name();
    (SESSIONS.iter().any(|session| name.contains(session)) && !name.contains("Pool"))
        || ty.args.iter().any(is_session)
}

/// Whether a function runs SQL.
pub fn runs_sql(models: &Models, facts: &RustFile, function: &Function) -> bool {
    let mut runs = false;
    let builder = facts.uses.iter().any(|import| models.is_of_builder(&import.path));
    if let Some(body) = &function.body {
        each_expr(body, &mut |expr| {
            runs |= may_run_sql(expr, models) || builder && models.may_run_builder(expr);
        });
    }
    runs
}

fn may_lock(expr: &Expr, models: &Models, imported: &[usize]) -> bool {
    match &expr.kind {
        ExprKind::Path(path) => models.makes_command(path),
        ExprKind::MethodCall { method, args, .. } => models
            .method(method, args.len(), |model| model.distinct || imported.contains(&model.client))
            .is_some(),
        ExprKind::Text(literal) => models.names_endpoint(&literal.value),
        _ => false,
    }
}

fn may_run_sql(expr: &Expr, models: &Models) -> bool {
    match &expr.kind {
        ExprKind::Path(path) => path.last().is_some_and(|name| models.query(name).is_some()),
        ExprKind::MethodCall { method, .. } => {
            models.statement(method).is_some() || models.preparation(method).is_some()
        }
        ExprKind::Macro(call) => call.path.last().is_some_and(|name| models.query(name).is_some()),
        _ => false,
    }
}

/// Whether a path leads to a constant with the text of such a statement.
fn names_row_lease(program: &Program<'_>, from: Scope, path: &[String], owner: Option<&str>) -> bool {
    let is_constant = |name: &String| !name.chars().any(char::is_lowercase);
    path.last().is_some_and(is_constant)
        && program.constants_at(from, path, owner).iter().any(|entry| is_row_lease(entry.constant))
}

impl Mentions {
    fn of(program: &Program<'_>, models: &Models, imported: &Imported, function: usize) -> Self {
        let entry = program.functions[function];
        let FunctionEntry { unit, function, .. } = entry;
        let Some(body) = &function.body else { return Self::default() };
        let mut paths: Vec<&[String]> = Vec::new();
        let mut names: Vec<&str> = Vec::new();
        let mut found = Self {
            takes_session: takes_session(function),
            takes_row: takes_row_lease(function),
            ..Self::default()
        };
        each_expr(body, &mut |expr| {
            found.lock |= may_lock(expr, models, &imported.libraries);
            found.statement |= may_run_sql(expr, models) || imported.builder && models.may_run_builder(expr);
            match &expr.kind {
                ExprKind::Path(path) => paths.push(path),
                ExprKind::MethodCall { method, .. } => {
                    found.asks_held |= asks_held(method).is_some();
                    names.push(method.as_str());
                }
                ExprKind::Struct { fields, .. } => {
                    let mut names = fields.iter().map(|(name, _)| name);
                    found.sets_renewal |=
                        names.clone().any(|name| says_renewal_interval(name) || says_time_before_end(name));
                    found.keeps_token |= names.any(|name| may_be_token(name));
                }
                _ => {}
            }
        });
        paths.sort_unstable();
        paths.dedup();
        let mut callees: Vec<usize> = Vec::new();
        for path in paths {
            found.takes_row |= names_row_lease(program, entry.scope(), path, function.owner.as_deref());
            let meant = program.functions_at(entry.scope(), path, function.owner.as_deref());
            match path.last() {
                Some(name) if meant.is_empty() => names.push(name),
                _ => callees.extend(meant),
            }
        }
        names.sort_unstable();
        names.dedup();
        let by_name = names
            .into_iter()
            .map(|name| program.methods_named(unit, name).take(MAX_NAMESAKES + 1).collect::<Vec<_>>())
            .filter(|namesakes| namesakes.len() <= MAX_NAMESAKES)
            .flatten();
        callees.extend(by_name);
        callees.sort_unstable();
        callees.dedup();
        Self { callees, ..found }
    }
}
