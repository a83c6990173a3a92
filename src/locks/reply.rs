//! Where the reply of an operation is dropped: in the function that sends the command, or in the first caller
//! that does not look at what its helper handed on.

use std::collections::BTreeSet;

use super::operation::{Operation, ReplyUse, Sequence};
use crate::facts::Location;

/// The operations that `drops` picks, each where it is dropped first, with that place: a caller of the
/// function that drops a reply sees it dropped as well.
pub fn droppers<'a>(
    operations: Vec<(&'a Sequence, &'a Operation)>,
    drops: impl Fn(&Operation) -> bool,
) -> Vec<(&'a Sequence, &'a Operation, Location)> {
    let dropped: Vec<(&Sequence, &Operation)> =
        operations.into_iter().filter(|(_, operation)| drops(operation)).collect();
    let places: BTreeSet<(Location, &[Location])> =
        dropped.iter().map(|(_, operation)| (operation.inner, &operation.via[..])).collect();
    let is_first = |operation: &Operation| {
        !operation.via.get(1..).is_some_and(|via| places.contains(&(operation.inner, via)))
    };
    let first = dropped.iter().filter(|(_, operation)| is_first(operation));
    first.map(|(sequence, operation)| (*sequence, *operation, place(operation))).collect()
}

fn place(operation: &Operation) -> Location {
    let is_here = operation.reply == ReplyUse::Ignored || operation.error_is_yes;
    let call = operation.via.first().copied().filter(|_| is_here);
    call.unwrap_or(operation.location)
}
