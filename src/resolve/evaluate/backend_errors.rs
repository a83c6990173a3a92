//! Where an error of the store is taken for a yes: `unwrap_or(true)`, `Err(_) => true`, an error that is logged
//! where a refusal would have left. Whether the reply is about a lock is told elsewhere.

use crate::facts::rust::{Arm, Block, Expr, ExprKind, Pattern, PatternKind, Statement};

use super::Frame;
use crate::resolve::value::{Condition, Form, Layer, Value};

impl Frame<'_, '_> {
    /// `reply.unwrap_or(true)` and its like.
    pub(super) fn note_default(&mut self, reply: &Value, method: &str, default: Option<&Value>) {
        let is_yes = match default.map(|default| &default.form) {
            Some(Form::Closure(closure)) => ends_in_yes(&closure.body),
            Some(form) => says_yes(form),
            None => false,
        };
        if is_yes && (method.starts_with("unwrap_or") || method.starts_with("map_or")) {
            self.mark(reply, |uses| uses.error_is_yes = true);
        }
    }

    /// An arm of a `match` on `reply`, of which `left` says whether its code leaves.
    pub(super) fn note_error_arms<'f>(&mut self, reply: &Value, arms: impl Iterator<Item = (&'f Arm, bool)>) {
        let Form::Reply(operation, Layer::Result) = reply.form else { return };
        let (mut error_is_yes, mut error_goes_on, mut refusal_leaves) = (false, false, false);
        let (mut on_error, mut on_refusal, mut on_success) = (None, None, None);
        for (arm, left) in arms {
            let outcome = if is_error(&arm.pattern) {
                &mut on_error
            } else if is_refusal(&arm.pattern) {
                &mut on_refusal
            } else {
                &mut on_success
            };
            *outcome = made_by(&arm.body);
            if is_error(&arm.pattern) {
                error_is_yes |= !left && ends_in_yes(&arm.body);
                error_goes_on |= !left && gives_nothing(&arm.body);
            } else if is_refusal(&arm.pattern) {
                refusal_leaves |= left;
            }
        }
        // `Entry::Mine(…)` on both, and something else for the loser.
        let alike =
            on_error.is_some() && on_error == on_success && on_refusal.is_some_and(|no| Some(no) != on_error);
        if error_is_yes || alike || (error_goes_on && refusal_leaves) {
            self.trace.mark(operation, |uses| uses.error_is_yes = true);
        }
    }

    /// `return true` where the store has failed.
    pub(super) fn note_early_answer(&mut self, answer: &Value) {
        if !says_yes(&answer.form) {
            return;
        }
        let innermost = self.guards.iter().next().cloned();
        let Some((Value { form: Form::Condition(condition), .. }, true)) = innermost else { return };
        if let Condition::Holds { value, positive: false } = &*condition
            && let Form::Reply(operation, Layer::Result) = value.form
        {
            self.trace.mark(operation, |uses| uses.error_is_yes = true);
        }
    }
}

fn says_yes(form: &Form) -> bool {
    match form {
        Form::Bool(yes) => *yes,
        Form::Variant("Ok" | "Some", Some(inner)) => says_yes(&inner.form),
        _ => false,
    }
}

fn ends_in_yes(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Bool(yes) => *yes,
        ExprKind::Block(block) => tail(block).is_some_and(ends_in_yes),
        ExprKind::Call { callee, args } => {
            let wraps = matches!(&callee.kind, ExprKind::Path(path) if matches!(path.as_slice(), [name] if name == "Ok"));
            wraps && args.first().is_some_and(ends_in_yes)
        }
        _ => false,
    }
}

/// The variant, type or function that makes the value of an arm.
fn made_by(expr: &Expr) -> Option<&[String]> {
    match &expr.kind {
        ExprKind::Block(block) => tail(block).and_then(made_by),
        ExprKind::Path(path) | ExprKind::Struct { path, .. } => Some(path),
        ExprKind::Call { callee, args } => match (made_by(callee)?, args.as_slice()) {
            ([wrapper], [inner]) if wrapper == "Ok" || wrapper == "Some" => {
                made_by(inner).or(Some(std::slice::from_ref(wrapper)))
            }
            (path, _) => Some(path),
        },
        _ => None,
    }
}

/// A block without a value, or a line for the log.
fn gives_nothing(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Block(block) => tail(block).is_none_or(gives_nothing),
        ExprKind::Tuple(parts) => parts.is_empty(),
        ExprKind::Macro(call) => {
            let logs = ["trace", "debug", "info", "warn", "error", "println", "eprintln", "log"];
            call.path.last().is_some_and(|name| logs.contains(&name.as_str()))
        }
        _ => false,
    }
}

fn tail(block: &Block) -> Option<&Expr> {
    match block.statements.last() {
        Some(Statement::Expr { expr, tail: true }) => Some(expr),
        _ => None,
    }
}

fn is_error(pattern: &Pattern) -> bool {
    match &pattern.kind {
        PatternKind::Variant { path, .. } => path.last().is_some_and(|name| name == "Err"),
        PatternKind::Or(cases) => cases.iter().any(is_error),
        _ => false,
    }
}

/// `Ok(None)`, `Ok(false)`, `Ok(0)`: the lock is another's.
fn is_refusal(pattern: &Pattern) -> bool {
    match &pattern.kind {
        PatternKind::Variant { path, elements } => {
            path.last().is_some_and(|name| name == "Ok")
                && elements.first().is_some_and(|inner| match &inner.kind {
                    PatternKind::Value(value) => match &value.kind {
                        ExprKind::Bool(yes) => !yes,
                        ExprKind::Int(number) => *number == 0,
                        ExprKind::Path(path) => path.last().is_some_and(|name| name == "None"),
                        _ => false,
                    },
                    _ => false,
                })
        }
        _ => false,
    }
}
