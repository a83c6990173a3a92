//! The validity of a lease is worked out on the wall clock, which jumps.

use crate::facts::Location;
use crate::locks::{ClockFlow, ClockFlowKind, Inventory};
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for flow in inventory.clock_flows.iter().filter(|flow| !flow.is_test) {
        let Some((label, message)) = told(flow) else { continue };
        let mut draft = Draft::new(
            flow.location,
            label,
            message,
            "count the deadline on `Instant`, from before the request was sent, less a margin for drift; between machines trust the store's own expiry or the database's own clock",
        );
        if !contains(flow.location, flow.reading) {
            draft = draft.related(flow.reading, "the wall clock is read here");
        }
        if let Some(lock) = &flow.lock {
            draft = draft.lock(lock);
        }
        report.add(draft);
    }
}

/// The label and the message; nothing for what `client-clock-lease` speaks of.
fn told(flow: &ClockFlow) -> Option<(&'static str, String)> {
    Some(match &flow.kind {
        ClockFlowKind::ComparedWithStored => (
            "compares with the wall clock",
            "the lease is judged by this machine's wall clock against a moment that another machine wrote: clocks differ and jump".to_owned(),
        ),
        ClockFlowKind::ComparedWithDeadline { field } => (
            "compares with the wall clock",
            format!("the validity of the lease is read off the wall clock (`{field}`): a step of the clock makes an expired lease look held"),
        ),
        ClockFlowKind::StoredAsDeadline { field } => (
            "keeps a moment of the wall clock as deadline",
            format!("the end of the lease is kept as wall-clock time (`{field}`): a step of the clock makes an expired lease look held"),
        ),
        ClockFlowKind::GivenAsTtl => (
            "the lifetime comes from the wall clock",
            "the lifetime of the lock is computed from the wall clock: a step of the clock makes it end early or late".to_owned(),
        ),
        ClockFlowKind::DecidesRenewal => (
            "the moment of renewal is read off the wall clock",
            "the wall clock decides when the lease is renewed: a step back puts the renewal off until the lease is over"
                .to_owned(),
        ),
        ClockFlowKind::GivenAsEnd => return None,
    })
}

fn contains(outer: Location, inner: Location) -> bool {
    outer.file == inner.file && outer.span.start <= inner.span.start && inner.span.end <= outer.span.end
}
