//! Texts that branches continue in different ways: what they have in common is kept, and the rest is a
//! hole. Statements are put together like this; keys are not, so only statements are merged.

use super::value::{Form, Piece, Value};

/// `base` and two ways to go on from it, as `base` and one hole.
pub(super) fn common_statement(left: &[Piece], right: &[Piece]) -> Option<Value> {
    let shared = left.iter().zip(right).take_while(|pair| is_same(pair.0, pair.1)).count();
    if let Some(open) = opened(left, right, shared).or_else(|| opened(right, left, shared)) {
        return Some(Value::new(Form::Text(open.to_vec().into())));
    }
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

/// The longer of two, where it lets more rows in than the shorter: `… OR pinned = false`.
fn opened<'p>(shorter: &[Piece], longer: &'p [Piece], shared: usize) -> Option<&'p [Piece]> {
    let last = shorter.len().checked_sub(1)?;
    let rest = match (shared == shorter.len(), longer.get(shared)?, shorter.get(shared)) {
        (true, Piece::Text { text, .. }, _) => text.to_string(),
        // The pieces of texts that were pushed one after the other are one.
        (false, Piece::Text { text, .. }, Some(Piece::Text { text: before, .. })) if shared == last => {
            text.strip_prefix(&**before)?.to_owned()
        }
        _ => return None,
    };
    let opens = rest.trim_start().get(..3).is_some_and(|word| word.eq_ignore_ascii_case("or "));
    opens.then_some(longer)
}

fn is_same(left: &Piece, right: &Piece) -> bool {
    match (left, right) {
        (Piece::Text { text: a, .. }, Piece::Text { text: b, .. }) => a == b,
        (Piece::Hole(_), Piece::Hole(_)) => true,
        _ => false,
    }
}
