//! The end of a lease in shared storage is a moment of one client's clock.

use crate::finding::{Confidence, Severity};
use crate::locks::{ClientClock, ClockFlowKind, Inventory, client_clocks};
use crate::rules::{Draft, Reporter};

const HELP: &str = "let one clock decide, that of the store: `expires_at = clock_timestamp() + interval '30 seconds'` and `expires_at < clock_timestamp()` in SQL (`NOW(6)` on MySQL), a relative `PX` on Redis";

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for clock in client_clocks(inventory) {
        report.add(of_column(&clock));
    }
    let ends = inventory.clock_flows.iter().filter(|flow| !flow.is_test);
    for flow in ends.filter(|flow| matches!(flow.kind, ClockFlowKind::GivenAsEnd)) {
        let mut draft = Draft::new(
            flow.location,
            "the lock ends at a moment of this machine's clock",
            "the store compares the end of the lock with its own clock, and gets it from this machine's: as far as the two differ the lock ends early or late",
            HELP,
        )
        .related(flow.reading, "the wall clock is read here");
        if let Some(lock) = &flow.lock {
            draft = draft.lock(lock);
        }
        report.add(draft);
    }
}

fn of_column(clock: &ClientClock<'_>) -> Draft {
    let ClientClock { table, column, .. } = clock;
    let verb = if clock.is_stored { "ends at" } else { "is judged by" };
    let why = match clock.beside {
        Some(_) => format!(
            "`{table}.{column}` is written by one clock and compared with another: the lease of a row {verb} a moment of this client's clock here, and by the database's elsewhere"
        ),
        None => format!(
            "the lease of a row of `{table}` {verb} a moment of this client's clock (`{column}`): a worker whose clock is ahead takes rows that another one still holds"
        ),
    };
    let mut draft = Draft::new(clock.reading, "the client's clock is read here", why, HELP)
        .lock(*table)
        .confidence(if clock.beside.is_some() { Confidence::High } else { Confidence::Medium })
        .related(clock.site.location(), if clock.is_stored { "stored here" } else { "compared here" });
    if let Some(beside) = clock.beside {
        draft = draft.related(beside.location(), "the database's clock is used here");
    }
    if clock.one_host {
        draft = draft.severity(Severity::Info);
    }
    draft
}
