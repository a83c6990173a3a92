//! Texts that branches continue in different ways: what they have in common is kept, and the rest is a
//! hole. Statements are put together like this; keys are not, so only statements are merged.

use super::value::{Form, Piece, Value};

/// `base` and two ways to go on from it, as `base` and one hole.
pub(super) fn common_statement(left: &[Piece], right: &[Piece]) -> Option<Value> {
    let shared = left.iter().zip(right).take_while(|pair| is_same(pair.0, pair.1)).count();
    let Some(Piece::Text { text, .. }) = left.get(..shared)?.first() else { return None };
    if !crate::sql::looks_like_statement(text) {
        return None;
    }
    let mut rest = Value::unknown();
    for piece in left[shared..].iter().chain(&right[shared..]) {
        if let Piece::Hole(value) = piece {
            rest = rest.with_flows(&value.flows);
        }
    }
    let mut pieces = left[..shared].to_vec();
    pieces.push(Piece::Hole(Box::new(rest)));
    Some(Value::new(Form::Text(pieces.into())))
}

fn is_same(left: &Piece, right: &Piece) -> bool {
    match (left, right) {
        (Piece::Text { text: a, .. }, Piece::Text { text: b, .. }) => a == b,
        (Piece::Hole(_), Piece::Hole(_)) => true,
        _ => false,
    }
}
