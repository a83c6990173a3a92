//! A lock on several nodes that fewer than a majority of them grant, or that the others keep.

use crate::locks::{Inventory, Quorum};
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for quorum in &inventory.quorums {
        if let Some(draft) = draft(quorum) {
            report.add(
                draft.lock(&quorum.lock).related(quorum.acquired_at, "the lock is taken on one node here"),
            );
        }
    }
}

fn draft(quorum: &Quorum) -> Option<Draft> {
    let lock = &quorum.lock;
    if let Some(nodes) = quorum.too_few_of {
        return Some(Draft::new(
            quorum.location,
            "accepts fewer than a majority",
            format!(
                "of {nodes} nodes, {} or fewer are enough to hold the lock `{lock}`: two clients can hold it at once",
                nodes / 2
            ),
            "ask for more than half of all nodes: `nodes.len() / 2 + 1`",
        ));
    }
    quorum.leaves_minority.then(|| {
        Draft::new(
            quorum.location,
            "a failed acquire keeps what it has won",
            format!("the nodes that granted the lock `{lock}` keep it when the others did not: nobody can have a majority until their TTL ends"),
            "when the quorum is missed, compare and delete on every node before the next attempt",
        )
    })
}
