//! Locks on several independent nodes: code that takes one key on each of them, counts, and compares the
//! count with a quorum. How many nodes the quorum asks for is worked out for small numbers of nodes.

mod missed;
mod round;
mod threshold;

use std::collections::BTreeMap;

use crate::facts::rust::{BinaryOperator, Block, Expr, ExprKind};
use crate::facts::walk::{each_expr, each_part};
use crate::facts::{Location, Span};
use crate::locks::{Action, Key, Operation, Quorum, Sequence};

use super::super::evaluate::Evaluator;
use missed::Enough;
use round::Round;
use threshold::{Threshold, threshold};

/// Words for what is taken off a validity beside the time that the acquire took.
const DRIFT: &[&str] = &["drift", "margin", "skew", "slack", "tolerance", "safety"];

/// Words of calls that free a lock.
const FREEING: &[&str] = &["unlock", "release", "undo", "free", "rollback", "cleanup"];

/// Every acquire on several nodes, with what its function does about the count and the time.
pub fn quorums(evaluator: &Evaluator<'_>, keys: &[Key], sequences: &[Sequence]) -> Vec<Quorum> {
    let mut found: BTreeMap<Location, Quorum> = BTreeMap::new();
    for sequence in sequences {
        for acquire in sequence.operations.iter().filter(|operation| operation.action.is_acquire()) {
            // A key that is taken on many nodes, which are counted, needs few other reasons to be a lock.
            if keys[acquire.key].weight() <= 0 || acquire.is_test {
                continue;
            }
            let frees_by_drop = sequences.iter().flat_map(|sequence| &sequence.operations).any(|operation| {
                operation.key == acquire.key && operation.context.in_drop && is_delete(operation)
            });
            if let Some(mut quorum) = quorum(evaluator, sequence, acquire, keys) {
                quorum.leaves_minority &= !frees_by_drop;
                found.entry(quorum.location).or_insert(quorum);
            }
        }
    }
    found.into_values().collect()
}

fn quorum(
    evaluator: &Evaluator<'_>,
    sequence: &Sequence,
    acquire: &Operation,
    keys: &[Key],
) -> Option<Quorum> {
    let program = evaluator.program;
    let entry = program.functions.get(sequence.number)?;
    let (file, place) = (program.units[entry.unit].file, acquire.place());
    let body = entry.function.body.as_ref().filter(|_| place.file == file)?;
    let round = Round::around(body, place.span)?;
    let Threshold { compared, least } = threshold(program, sequence.number, body, &round)?;
    let enough = Enough::of(body, &compared);
    let frees = sequence.operations.iter().any(|operation| {
        operation.key == acquire.key && is_delete(operation) && !enough.covers(operation.place().span)
    });
    Some(Quorum {
        location: Location { file, span: compared.span },
        acquired_at: place,
        lock: keys[acquire.key].name.clone(),
        too_few_of: least.iter().find(|(nodes, least)| **least <= *nodes / 2).map(|(nodes, _)| *nodes),
        leaves_minority: !frees && !mentions(body, FREEING, &|span| !enough.covers(span)),
        asks_elapsed: mentions(body, &["elapsed", "since"], &|_| true),
        asks_drift: mentions(body, DRIFT, &|_| true) || subtracts_twice(body),
    })
}

fn is_delete(operation: &Operation) -> bool {
    matches!(operation.action, Action::Delete { .. })
}

/// Whether a name in a part of a body has one of these words.
fn mentions(body: &Block, wanted: &[&str], is_part: &dyn Fn(Span) -> bool) -> bool {
    let mut found = false;
    let has =
        |name: &str| name.split('_').any(|word| wanted.iter().any(|known| word.eq_ignore_ascii_case(known)));
    each_expr(body, &mut |expr| {
        found |= match &expr.kind {
            ExprKind::Path(path) => path.iter().any(|name| has(name)),
            ExprKind::MethodCall { method: name, .. } | ExprKind::Field { name, .. } => has(name),
            _ => false,
        } && is_part(expr.span);
    });
    found
}

/// `ttl - elapsed - ttl / 100`.
fn subtracts_twice(body: &Block) -> bool {
    let takes = |expr: &Expr| match &expr.kind {
        ExprKind::Binary { operator, .. } => *operator == BinaryOperator::Subtract,
        ExprKind::MethodCall { method, .. } => method.ends_with("_sub"),
        _ => false,
    };
    let mut found = false;
    each_expr(body, &mut |expr| {
        let inner = match &expr.kind {
            ExprKind::Binary { left, .. } => left,
            ExprKind::MethodCall { receiver, .. } => receiver,
            _ => return,
        };
        if takes(expr) {
            each_part(inner, &mut |part| found |= takes(part));
        }
    });
    found
}
