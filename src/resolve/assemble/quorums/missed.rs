//! Which part of a function runs only when enough nodes have granted the lock: what is freed there says
//! nothing of the nodes that were won in vain.

use crate::facts::Span;
use crate::facts::rust::{Block, Expr, ExprKind, Statement};
use crate::facts::walk::{each_expr, each_part};

use super::threshold::Comparison;

/// The places behind "enough nodes".
#[derive(Default)]
pub(super) struct Enough {
    spans: Vec<Span>,
}

impl Enough {
    /// By the innermost `if` that asks the comparison. Where it is asked in another way, all may run.
    pub(super) fn of(body: &Block, compared: &Comparison) -> Self {
        let mut enough = Self::default();
        each_expr(body, &mut |expr| {
            let ExprKind::If { condition, then, otherwise } = &expr.kind else { return };
            if !contains(condition.span, compared.span) {
                return;
            }
            let refuses = !compared.accepts ^ is_negated(condition, compared.span);
            enough.spans = match (refuses, otherwise) {
                (false, _) => vec![then.span],
                (true, Some(otherwise)) => vec![otherwise.span],
                (true, None) if ends(then) => vec![Span { start: expr.span.end, end: body.span.end }],
                (true, None) => Vec::new(),
            };
        });
        enough
    }

    pub(super) fn covers(&self, span: Span) -> bool {
        self.spans.iter().any(|enough| contains(*enough, span))
    }
}

fn contains(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// `!(won >= quorum)`.
fn is_negated(condition: &Expr, compared: Span) -> bool {
    let mut negated = false;
    each_part(condition, &mut |part| {
        negated ^= matches!(&part.kind, ExprKind::Not(inner) if contains(inner.span, compared));
    });
    negated
}

/// Whether the last thing that a block does is to leave the function.
fn ends(block: &Block) -> bool {
    let Some(Statement::Expr { expr, .. }) = block.statements.last() else { return false };
    match &expr.kind {
        ExprKind::Return(_) => true,
        ExprKind::Macro(call) => {
            call.path.last().is_some_and(|name| matches!(name.as_str(), "bail" | "panic" | "unreachable"))
        }
        _ => false,
    }
}
