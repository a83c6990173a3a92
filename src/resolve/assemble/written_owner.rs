//! Which value the code compares with what it has read from a key, as far as the text of one function shows
//! it: there must be one comparison between the read and the call in question.

use crate::facts::rust::{BinaryOperator, Block, Expr, ExprKind};
use crate::facts::walk::each_expr;
use crate::facts::{FileId, Location, Span};
use crate::locks::written::WrittenOwner;

use super::super::bindings::{Bindings, LOOKS};

/// The owner value that a call depends on, where it can be named at the call as well.
pub(super) fn owner(body: &Block, bindings: &Bindings<'_>, call: Span, file: FileId) -> Option<WrittenOwner> {
    let read = last_read(body, call)?;
    let mut comparisons = Vec::new();
    each_expr(body, &mut |expr| {
        if let ExprKind::Binary { operator: BinaryOperator::Equal | BinaryOperator::NotEqual, left, right } =
            &expr.kind
            && expr.span.end <= call.start
            && expr.span.end >= read.end
        {
            comparisons.push((&**left, &**right));
        }
    });
    let [(left, right)] = comparisons.as_slice() else { return None };
    let known = |side: &Expr| {
        let value = unwrapped(side);
        // What is known before the read is not what was read.
        let from = bindings.known_from(value, call.start)?;
        (from <= read.start).then_some(value.span)
    };
    let place = match (known(left), known(right)) {
        (Some(place), None) if is_reading(right, read) => place,
        (None, Some(place)) if is_reading(left, read) => place,
        _ => return None,
    };
    let at = |span| Location { file, span };
    Some(WrittenOwner { read: at(read), place: at(place) })
}

/// The last GET before a call.
fn last_read(body: &Block, call: Span) -> Option<Span> {
    let mut found: Option<Span> = None;
    each_expr(body, &mut |expr| {
        if is_get(expr) && expr.span.end <= call.start && found.is_none_or(|last| last.end < expr.span.end) {
            found = Some(expr.span);
        }
    });
    found
}

fn is_get(expr: &Expr) -> bool {
    let ExprKind::MethodCall { receiver, method, args, .. } = &expr.kind else { return false };
    match method.as_str() {
        "get" => args.len() == 1,
        "query" | "query_async" => match &receiver.kind {
            ExprKind::MethodCall { receiver, method, .. } if method == "arg" => {
                matches!(&receiver.kind, ExprKind::Call { args, .. } if matches!(args.as_slice(),
                    [Expr { kind: ExprKind::Text(name), .. }] if name.value.eq_ignore_ascii_case("get")))
            }
            _ => false,
        },
        _ => false,
    }
}

/// `Some(owner)` without its wrapping.
fn unwrapped(side: &Expr) -> &Expr {
    match &side.kind {
        ExprKind::Call { callee, args } => match (&callee.kind, args.as_slice()) {
            (ExprKind::Path(path), [inner]) if path.len() == 1 && path[0] == "Some" => inner,
            _ => side,
        },
        _ => side,
    }
}

/// What was read, as it is or behind calls that change nothing about it.
fn is_reading(side: &Expr, read: Span) -> bool {
    let mut at = side;
    loop {
        if at.span == read {
            return true;
        }
        at = match &at.kind {
            ExprKind::Try(inner) | ExprKind::Await(inner) | ExprKind::Borrow(inner) => inner,
            ExprKind::MethodCall { receiver, method, .. } if LOOKS.contains(&method.as_str()) => receiver,
            ExprKind::Path(path) => return path.len() == 1,
            ExprKind::Call { callee, args } => match (&callee.kind, args.as_slice()) {
                (ExprKind::Path(path), [inner]) if path.len() == 1 && path[0] == "Some" => inner,
                _ => return false,
            },
            _ => return false,
        };
    }
}
