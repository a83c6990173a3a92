//! Pooled connections that are given back while their session holds a lock.
//!
//! Which statements take and free locks is known from the traces, helpers included; the ways out between
//! them are a question of the function's text. A connection that leaves the function, or is taken out of
//! the pool for good, is none of our business.

use std::collections::BTreeSet;

use crate::facts::rust::{Block, Expr, ExprKind, Function, Pattern, PatternKind, Statement};
use crate::facts::walk::each_expr;
use crate::facts::{FileId, Location, Span};
use crate::locks::session::LeftSession;
use crate::locks::statement::SessionAct;

use super::super::evaluate::Evaluator;
use super::super::trace::{Action, Operation, Trace};
use super::session_locks::session_lock_of;

/// Every pooled connection of the run that a lock is left on.
pub fn left_sessions(evaluator: &Evaluator<'_>, order: &[usize]) -> Vec<LeftSession> {
    let program = evaluator.program;
    let mut found = BTreeSet::new();
    for &index in order {
        let entry = &program.functions[index];
        let Some(trace) = evaluator.trace(index) else { continue };
        let acts = session_acts(&trace);
        // The end of `main` ends the session.
        if acts.is_empty() || program.is_test(index) || entry.function.name == "main" {
            continue;
        }
        let file = program.units[entry.unit].file;
        found.extend(Reading::new(entry.function, file).left(&acts));
    }
    found.into_iter().collect()
}

/// What a call of this function does to a lock of its session.
struct Act {
    act: SessionAct,
    /// The call in this function, which may be one of a helper.
    place: Location,
}

fn session_acts(trace: &Trace) -> Vec<Act> {
    let place = |operation: &Operation| operation.via.first().copied().unwrap_or(operation.location);
    let act = |operation: &Operation| {
        let Action::Sql(call) = &operation.action else { return None };
        let lock = session_lock_of(call).filter(|lock| !lock.for_transaction)?;
        Some(Act { act: lock.act, place: place(operation) })
    };
    trace.operations.iter().filter_map(act).collect()
}

/// What a function's text holds, by place.
struct Reading<'f> {
    file: FileId,
    exprs: Vec<&'f Expr>,
    lets: Vec<Let<'f>>,
    tails: Vec<&'f Expr>,
    /// Closures and async blocks: a `?` inside leaves them and not the function.
    scopes: Vec<Span>,
    loops: Vec<Span>,
}

struct Let<'f> {
    names: Vec<&'f str>,
    value: &'f Expr,
    otherwise: Option<Span>,
    span: Span,
}

/// A variable that holds a connection of a pool.
struct Pooled<'f> {
    name: &'f str,
    at: Span,
}

impl<'f> Reading<'f> {
    fn new(function: &'f Function, file: FileId) -> Self {
        let mut reading = Self {
            file,
            exprs: Vec::new(),
            lets: Vec::new(),
            tails: Vec::new(),
            scopes: Vec::new(),
            loops: Vec::new(),
        };
        let Some(body) = &function.body else { return reading };
        reading.block(body);
        each_expr(body, &mut |expr| reading.expr(expr));
        reading
    }

    fn expr(&mut self, expr: &'f Expr) {
        self.exprs.push(expr);
        match &expr.kind {
            ExprKind::Closure { .. } => self.scopes.push(expr.span),
            ExprKind::Async(block) => {
                self.scopes.push(expr.span);
                self.block(block);
            }
            ExprKind::Loop { body } | ExprKind::While { body, .. } | ExprKind::For { body, .. } => {
                self.loops.push(expr.span);
                self.block(body);
            }
            ExprKind::If { then, .. } => self.block(then),
            ExprKind::Block(block) => self.block(block),
            _ => {}
        }
    }

    fn block(&mut self, block: &'f Block) {
        for statement in &block.statements {
            match statement {
                Statement::Let { pattern, value: Some(value), otherwise, span, .. } => {
                    let mut names = Vec::new();
                    names_in(pattern, &mut names);
                    let otherwise = otherwise.as_ref().map(|block| block.span);
                    self.lets.push(Let { names, value, otherwise, span: *span });
                }
                Statement::Expr { expr, tail: true } => self.tails.push(expr),
                _ => {}
            }
        }
    }

    fn left(&self, acts: &[Act]) -> Vec<LeftSession> {
        let mut found = self.left_at_once(acts);
        for pooled in self.lets.iter().filter_map(pooled) {
            if self.escapes(&pooled) {
                continue;
            }
            let own = |act: &&Act| {
                act.place.file == self.file
                    && act.place.span.start >= pooled.at.end
                    && self.mentions(act.place.span, pooled.name)
            };
            let taken = acts.iter().filter(own).find(|act| act.act != SessionAct::Release);
            let Some(taken) = taken.map(|act| act.place) else { continue };
            let frees = acts.iter().filter(own).filter(|act| act.act == SessionAct::Release);
            let mut released: Vec<Span> = frees.map(|act| act.place.span).collect();
            released.extend(self.own_releases(pooled.name));
            released.retain(|span| span.start >= taken.span.end);
            let exit = self.exit(&pooled, taken.span, &released);
            if exit.is_some() || released.is_empty() {
                let at = |span| Location { file: self.file, span };
                found.push(LeftSession { taken_at: taken, connection: at(pooled.at), exit: exit.map(at) });
            }
        }
        found
    }

    /// `….execute(&mut *pool.acquire().await?)`: the connection goes back when the statement has run.
    fn left_at_once(&self, acts: &[Act]) -> Vec<LeftSession> {
        let takes = acts.iter().filter(|act| act.act != SessionAct::Release && act.place.file == self.file);
        let at_once = takes.filter_map(|act| {
            let inside = |e: &&&Expr| {
                within(act.place.span, e.span) && self.scope_of(e.span) == self.scope_of(act.place.span)
            };
            let span = self.exprs.iter().filter(inside).find(|e| is_acquire(e))?.span;
            let connection = Location { file: self.file, span };
            Some(LeftSession { taken_at: act.place, connection, exit: None })
        });
        at_once.collect()
    }

    /// Whether anything between these bytes names the variable.
    fn mentions(&self, span: Span, name: &str) -> bool {
        self.exprs.iter().any(|e| within(span, e.span) && is_name(e, name))
    }

    /// The connection is handed on, kept, moved into a task, or taken out of the pool.
    fn escapes(&self, pooled: &Pooled<'_>) -> bool {
        let is_it = |e: &Expr| is_name(e, pooled.name);
        let scope = self.scope_of(pooled.at);
        self.tails.iter().any(|e| is_it(e))
            || self.lets.iter().any(|l| is_it(l.value))
            || self.exprs.iter().any(|e| match &e.kind {
                ExprKind::Call { callee, args } => args.iter().any(is_it) && !gives_back(callee),
                ExprKind::MethodCall { receiver, method, args, .. } => {
                    args.iter().any(is_it)
                        || (root_is(receiver, pooled.name) && LEAVES_POOL.contains(&method.as_str()))
                }
                ExprKind::Struct { fields, .. } => fields.iter().any(|(_, value)| is_it(value)),
                ExprKind::Tuple(parts) | ExprKind::Array(parts) => parts.iter().any(is_it),
                ExprKind::Return(Some(value)) | ExprKind::Break(Some(value)) => is_it(value),
                ExprKind::Assign { value, .. } => is_it(value),
                ExprKind::Path(_) => is_it(e) && self.scope_of(e.span) != scope,
                _ => false,
            })
    }

    /// Calls whose name says that they free the lock, where they could not be followed.
    fn own_releases(&self, name: &str) -> Vec<Span> {
        let says = |called: &str| {
            let called = called.to_ascii_lowercase();
            called.contains("unlock") || called.contains("release")
        };
        let frees = |e: &&&Expr| match &e.kind {
            ExprKind::Call { callee, .. } => {
                matches!(&callee.kind, ExprKind::Path(path) if path.last().is_some_and(|last| says(last)))
            }
            ExprKind::MethodCall { method, .. } => says(method),
            _ => false,
        };
        self.exprs.iter().filter(frees).filter(|e| self.mentions(e.span, name)).map(|e| e.span).collect()
    }

    /// The first way out behind the acquire and before any release.
    fn exit(&self, pooled: &Pooled<'_>, taken: Span, released: &[Span]) -> Option<Span> {
        let before = released.iter().map(|span| span.start).min().unwrap_or(u32::MAX);
        let refused = self.refusals(taken);
        let names = self.names_of(taken);
        let scope = self.scope_of(taken);
        let mut exits: Vec<&&Expr> = self
            .exprs
            .iter()
            .filter(|e| e.span.start >= taken.end && e.span.start < before)
            .filter(|e| self.leaves(e, pooled))
            .filter(|e| self.scope_of(e.span) == scope)
            .filter(|e| !released.iter().any(|free| within(e.span, *free)))
            .filter(|e| !refused.iter().any(|branch| within(*branch, e.span)))
            .filter(|e| !names.iter().any(|name| self.mentions(e.span, name)))
            .collect();
        exits.sort_by_key(|e| (e.span.start, e.span.end));
        exits.first().map(|e| e.span)
    }

    /// Whether the expression can leave the part of the function that has the connection.
    fn leaves(&self, e: &Expr, pooled: &Pooled<'_>) -> bool {
        match &e.kind {
            ExprKind::Try(_) | ExprKind::Return(_) => true,
            ExprKind::Macro(call) => {
                call.path.last().is_some_and(|name| ["bail", "ensure"].contains(&name.as_str()))
            }
            ExprKind::Break(_) | ExprKind::Continue => {
                let around = self.loops.iter().filter(|span| within(**span, e.span));
                around.min_by_key(|span| span.end - span.start).is_some_and(|span| within(*span, pooled.at))
            }
            _ => false,
        }
    }

    /// Variables that hold the answer of the acquire.
    fn names_of(&self, taken: Span) -> Vec<&'f str> {
        let own = self.lets.iter().filter(|l| within(l.span, taken) && within(l.value.span, taken));
        own.flat_map(|l| l.names.iter().copied()).collect()
    }

    /// Branches that run when the acquire failed or was refused.
    fn refusals(&self, taken: Span) -> Vec<Span> {
        let names = self.names_of(taken);
        let about = |e: &Expr| within(e.span, taken) || names.iter().any(|name| self.mentions(e.span, name));
        let mut found: Vec<Span> =
            self.lets.iter().filter(|l| about(l.value)).filter_map(|l| l.otherwise).collect();
        for e in &self.exprs {
            match &e.kind {
                ExprKind::If { condition, then, otherwise } if about(condition) => {
                    if is_negated(condition) {
                        found.push(then.span);
                    } else {
                        found.extend(otherwise.as_ref().map(|e| e.span));
                    }
                }
                ExprKind::Match { value, arms } if about(value) => {
                    found.extend(arms.iter().filter(|arm| refuses(&arm.pattern)).map(|arm| arm.body.span));
                }
                _ => {}
            }
        }
        found
    }

    fn scope_of(&self, span: Span) -> Option<Span> {
        let around = self.scopes.iter().filter(|scope| within(**scope, span));
        around.min_by_key(|scope| scope.end - scope.start).copied()
    }
}

/// Methods after which the connection does not come back to the pool with its session.
const LEAVES_POOL: &[&str] = &["detach", "close", "close_hard", "close_on_drop", "leak", "into_inner"];

/// Methods of pools, and those of them that only pools have.
const ACQUIRES: &[&str] = &[
    "acquire",
    "try_acquire",
    "get_conn",
    "get",
    "try_get",
    "get_timeout",
    "get_connection",
    "connection",
    "begin",
];
const OF_POOLS_ONLY: &[&str] = &["acquire", "try_acquire", "get_conn"];

fn pooled<'f>(l: &Let<'f>) -> Option<Pooled<'f>> {
    let [name] = l.names.as_slice() else { return None };
    let mut value = l.value;
    loop {
        match &value.kind {
            ExprKind::Try(inner) | ExprKind::Await(inner) | ExprKind::Borrow(inner) => value = inner,
            ExprKind::MethodCall { receiver, .. } => {
                if is_acquire(value) {
                    return Some(Pooled { name, at: l.span });
                }
                value = receiver;
            }
            _ => return None,
        }
    }
}

fn is_acquire(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::MethodCall { receiver, method, .. } => {
            ACQUIRES.contains(&method.as_str()) && is_pool(receiver, method)
        }
        _ => false,
    }
}

fn is_pool(receiver: &Expr, method: &str) -> bool {
    let name = match &receiver.kind {
        ExprKind::Path(path) => path.last(),
        ExprKind::Field { name, .. } => Some(name),
        ExprKind::MethodCall { method, .. } => Some(method),
        ExprKind::Borrow(inner) => return is_pool(inner, method),
        _ => None,
    };
    let Some(name) = name.map(|name| name.to_ascii_lowercase()) else { return false };
    name.contains("pool")
        || (OF_POOLS_ONLY.contains(&method) && !name.contains("conn") && !name.contains("client"))
}

fn names_in<'f>(pattern: &'f Pattern, found: &mut Vec<&'f str>) {
    match &pattern.kind {
        PatternKind::Name { name, .. } => found.push(name),
        PatternKind::Variant { elements, .. } | PatternKind::Tuple(elements) | PatternKind::Or(elements) => {
            elements.iter().for_each(|element| names_in(element, found));
        }
        PatternKind::Struct { fields, .. } => fields.iter().for_each(|(_, field)| names_in(field, found)),
        _ => {}
    }
}

fn is_name(e: &Expr, name: &str) -> bool {
    matches!(&e.kind, ExprKind::Path(path) if path.len() == 1 && path[0] == name)
}

/// `drop(conn)` gives the connection back, with everything that it holds.
fn gives_back(callee: &Expr) -> bool {
    matches!(&callee.kind, ExprKind::Path(path) if path.last().is_some_and(|last| last == "drop"))
}

fn root_is(receiver: &Expr, name: &str) -> bool {
    let mut at = receiver;
    while let ExprKind::MethodCall { receiver: inner, .. }
    | ExprKind::Field { base: inner, .. }
    | ExprKind::Borrow(inner) = &at.kind
    {
        at = inner;
    }
    is_name(at, name)
}

fn is_negated(condition: &Expr) -> bool {
    use crate::facts::rust::BinaryOperator as B;
    match &condition.kind {
        ExprKind::Not(_) => true,
        ExprKind::Binary { operator: B::Equal, left, right } => {
            [left, right].iter().any(|side| matches!(side.kind, ExprKind::Bool(false)))
        }
        ExprKind::Binary { operator: B::NotEqual, .. } => true,
        ExprKind::MethodCall { method, .. } => method == "is_none" || method == "is_err",
        _ => false,
    }
}

/// The arm of an acquire that failed or was refused.
fn refuses(pattern: &Pattern) -> bool {
    match &pattern.kind {
        PatternKind::Wildcard | PatternKind::Name { .. } => true,
        PatternKind::Value(value) => match &value.kind {
            ExprKind::Bool(yes) => !yes,
            ExprKind::Path(path) => path.last().is_some_and(|last| last == "None"),
            _ => true,
        },
        PatternKind::Variant { path, elements } => {
            path.last().is_some_and(|last| last == "Err" || last == "None")
                || elements.iter().any(|e| !matches!(e.kind, PatternKind::Name { .. }) && refuses(e))
        }
        _ => false,
    }
}

fn within(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}
