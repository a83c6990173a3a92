//! Blocks and statements: order, scopes, and what early exits leave known for the rest of a block.

use crate::facts::rust::{Block, Expr, ExprKind, Pattern, PatternKind, Statement, Type};

use super::Frame;
use super::loops::SignalKind;
use crate::resolve::value::{Form, Value};

impl Frame<'_, '_> {
    pub(super) fn block(&mut self, block: &Block) -> Value {
        let guards = self.guards.clone();
        let value = self.scoped(|frame| frame.statements(&block.statements));
        self.guards = guards;
        value
    }

    pub(super) fn statements(&mut self, statements: &[Statement]) -> Value {
        let mut value = Value::new(Form::Tuple(Vec::new().into()));
        for statement in statements {
            match statement {
                Statement::Let { pattern, ty, value: init, otherwise, .. } => {
                    self.local_binding(pattern, ty.as_ref(), init.as_ref(), otherwise.as_ref());
                }
                Statement::Expr { expr, tail } => {
                    let result = self.expr(expr);
                    if !*tail {
                        self.note_dropped(expr, &result);
                    }
                    value = if *tail { result } else { Value::new(Form::Tuple(Vec::new().into())) };
                    if *tail && is_dropped_by_type(expr) {
                        value = Value::unknown();
                    }
                }
            }
            if self.diverged {
                break;
            }
        }
        value
    }

    /// The yes or no that a call gives, thrown away.
    fn note_dropped(&mut self, written: &Expr, value: &Value) {
        let is_call = matches!(
            written.kind,
            ExprKind::Try(_) | ExprKind::Await(_) | ExprKind::Call { .. } | ExprKind::MethodCall { .. }
        );
        let answer = match &value.form {
            Form::Variant("Ok", Some(inner)) => &**inner,
            _ => value,
        };
        if is_call && matches!(answer.form, Form::Condition(_)) {
            self.signal(SignalKind::Drop, answer.flows.replies.iter().copied());
        }
    }

    fn local_binding(
        &mut self,
        pattern: &Pattern,
        ty: Option<&Type>,
        init: Option<&Expr>,
        otherwise: Option<&Block>,
    ) {
        let mut value = init.map(|init| self.expr(init)).unwrap_or_default();
        if self.diverged {
            return;
        }
        if let Some(ty) = ty {
            value.ty = Some(self.bounded(ty));
        }
        if let Some(otherwise) = otherwise {
            let matches = self.pattern_condition(pattern, &value);
            self.mark_pattern(pattern, &value);
            self.guarded(&matches, false, |frame| frame.block(otherwise));
            self.diverged = false;
            self.assume(&matches, true);
        }
        match (&pattern.kind, init) {
            (PatternKind::Wildcard, Some(init)) => self.note_dropped(init, &value),
            (PatternKind::Wildcard, None) => {}
            (PatternKind::Name { name, .. }, _) => {
                self.decide(name, &value);
                self.bind(pattern, value);
            }
            _ => self.bind(pattern, value),
        }
    }
}

/// A loop has no value that its body's last expression would give.
fn is_dropped_by_type(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::While { .. } | ExprKind::For { .. })
}
