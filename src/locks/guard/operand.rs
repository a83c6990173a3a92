//! What an operand of a comparison is: the row's own token, a value from outside, or something else.

use super::predicate::Frame;
use crate::facts::sql::{Expr, ExprKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// The column in question, of the row written, plus this whole number.
    Token(i32),
    /// `GREATEST(token, new)`.
    Greatest,
    /// A value that the holder brings, plus this whole number.
    New(i32),
    /// A column of that name in another table.
    ForeignToken,
    /// Another column of the row itself.
    OwnRow,
    Constant,
    Unknown,
}

/// `EXCLUDED` and `NEW` stand for the row that is about to be stored.
pub(super) fn is_new_row(qualifier: Option<&str>) -> bool {
    qualifier.is_some_and(|q| q.eq_ignore_ascii_case("excluded") || q.eq_ignore_ascii_case("new"))
}

pub(super) fn side(frame: &Frame<'_>, e: &Expr) -> Side {
    match &e.kind {
        ExprKind::Column { qualifier, name } => frame.column(qualifier.as_deref(), name),
        ExprKind::Bind(_) | ExprKind::Hole | ExprKind::InsertedValue { .. } | ExprKind::Query(_) => {
            Side::New(0)
        }
        ExprKind::Number(_) | ExprKind::Text(_) | ExprKind::Boolean(_) | ExprKind::Null => Side::Constant,
        ExprKind::Cast { operand, .. } => side(frame, operand),
        ExprKind::Call { name, args } => call(frame, name, args),
        ExprKind::Arithmetic { operator, left, right } => arithmetic(frame, *operator, left, right),
        ExprKind::Tuple(list) if list.len() == 1 => side(frame, &list[0]),
        ExprKind::Other(parts) if parts.iter().any(|p| matches!(side(frame, p), Side::New(_))) => {
            Side::New(0)
        }
        _ => Side::Unknown,
    }
}

fn call(frame: &Frame<'_>, name: &str, args: &[Expr]) -> Side {
    let sides: Vec<Side> = args.iter().map(|a| side(frame, a)).collect();
    let token = sides.iter().any(|s| matches!(s, Side::Token(_)));
    let new = sides.iter().any(|s| matches!(s, Side::New(_)));
    match name {
        "coalesce" | "ifnull" | "nvl" | "isnull" | "abs" => sides.first().copied().unwrap_or(Side::Unknown),
        "greatest" | "max" if token && new => Side::Greatest,
        _ if token => Side::Unknown,
        _ if new => Side::New(0),
        _ => Side::Unknown,
    }
}

fn arithmetic(frame: &Frame<'_>, operator: char, left: &Expr, right: &Expr) -> Side {
    let step = match &right.kind {
        ExprKind::Number(n) => n.parse::<i32>().ok().filter(|n| n.abs() < 1000),
        _ => None,
    };
    let signed = step.and_then(|n| match operator {
        '+' => Some(n),
        '-' => Some(-n),
        _ => None,
    });
    match (side(frame, left), side(frame, right), signed) {
        (Side::Token(a), _, Some(n)) => Side::Token(a + n),
        (Side::New(a), _, Some(n)) => Side::New(a + n),
        (Side::Token(_), _, _) | (_, Side::Token(_), _) => Side::Unknown,
        (Side::New(_), _, _) | (_, Side::New(_), _) => Side::New(0),
        _ => Side::Unknown,
    }
}
