//! Which functions run on the normal path, rather than in a destructor only. What they do is not its concern.

use std::collections::{BTreeMap, BTreeSet};

use super::super::evaluate::Evaluator;

/// Helpers of destructors are followed this deep.
const MOST_ROUNDS: usize = 4;

/// The functions that something other than a destructor, a destructor's helper or a test calls: as far as
/// the calls are followed, or by name on a receiver that is not known.
pub(super) fn called_outside_drop(evaluator: &Evaluator<'_>) -> BTreeSet<usize> {
    let program = evaluator.program;
    let mut callers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (&caller, callees) in &evaluator.calls {
        for &callee in callees.iter().filter(|&&callee| callee != caller && !program.is_test(caller)) {
            callers.entry(callee).or_default().push(caller);
        }
    }
    let is_drop = |function: usize| {
        let facts = program.functions[function].function;
        facts.name == "drop" && facts.implements.as_deref() == Some("Drop")
    };
    let mut only_for_drop: BTreeSet<usize> =
        evaluator.calls.keys().copied().filter(|&caller| is_drop(caller)).collect();
    for _ in 0..MOST_ROUNDS {
        let more: Vec<usize> = callers
            .iter()
            .filter(|(_, callers)| callers.iter().all(|caller| only_for_drop.contains(caller)))
            .map(|(&callee, _)| callee)
            .collect();
        only_for_drop.extend(more);
    }
    let followed =
        callers.keys().copied().filter(|callee| !only_for_drop.contains(callee)).collect::<BTreeSet<_>>();
    let is_named = |function: &usize| {
        let facts = program.functions[*function].function;
        facts.has_self && evaluator.calls_by_name.contains(&facts.name)
    };
    let named = (0..program.functions.len()).filter(is_named);
    followed.into_iter().chain(named).collect()
}
