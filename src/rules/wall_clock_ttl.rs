//! The validity of a lease is worked out on the wall clock, which jumps.

use crate::facts::Location;
use crate::locks::{ClockFlow, ClockFlowKind, Inventory};
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for flow in
        inventory.clock_flows.iter().filter(|flow| !flow.is_test && flow.kind != ClockFlowKind::GivenAsEnd)
    {
        let mut draft = Draft::new(
            flow.location,
            label(&flow.kind),
            message(flow),
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

fn label(kind: &ClockFlowKind) -> &'static str {
    match kind {
        ClockFlowKind::ComparedWithStored | ClockFlowKind::ComparedWithDeadline { .. } => {
            "compares with the wall clock"
        }
        ClockFlowKind::StoredAsDeadline { .. } => "keeps a moment of the wall clock as deadline",
        ClockFlowKind::GivenAsTtl | ClockFlowKind::GivenAsEnd => "the lifetime comes from the wall clock",
    }
}

fn message(flow: &ClockFlow) -> String {
    match &flow.kind {
        ClockFlowKind::ComparedWithStored => {
            "the lease is judged by this machine's wall clock against a moment that another machine wrote: clocks differ and jump".to_owned()
        }
        ClockFlowKind::ComparedWithDeadline { field } => {
            format!("the validity of the lease is read off the wall clock (`{field}`): a step of the clock makes an expired lease look held")
        }
        ClockFlowKind::StoredAsDeadline { field } => {
            format!("the end of the lease is kept as wall-clock time (`{field}`): a step of the clock makes an expired lease look held")
        }
        ClockFlowKind::GivenAsTtl | ClockFlowKind::GivenAsEnd => {
            "the lifetime of the lock is computed from the wall clock: a step of the clock makes it end early or late".to_owned()
        }
    }
}

fn contains(outer: Location, inner: Location) -> bool {
    outer.file == inner.file && outer.span.start <= inner.span.start && inner.span.end <= outer.span.end
}
