//! The renewal comes less often than every third of the lease's TTL.

use crate::finding::Severity;
use crate::locks::{Inventory, Pause, RenewalLoop};
use crate::rules::{Draft, Reporter};

const HELP: &str = "renew at a third of the TTL, so that two renewals may fail before the lease ends";

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for renewal in inventory.renewal_loops() {
        let Some(pause) = &renewal.repetition.pause else { continue };
        let Some((part, whole)) = pause.length.as_part_of(&renewal.ttl) else { continue };
        let Some(thirds) = part.checked_mul(3) else { continue };
        if thirds > whole {
            report.add(draft(&renewal, pause, part, whole));
        }
    }
}

fn draft(renewal: &RenewalLoop<'_>, pause: &Pause, part: i128, whole: i128) -> Draft {
    let lock = &renewal.lock;
    let (interval, ttl) = match (pause.length.millis, renewal.ttl.millis) {
        (Some(pause), Some(ttl)) => (shown(pause), format!("its TTL of {}", shown(ttl))),
        _ => (format!("{part}/{whole} of the TTL"), "its TTL".to_owned()),
    };
    let (severity, message) = if part >= whole {
        (Severity::Error, format!("the lease `{lock}` is renewed after {interval}, when {ttl} is over"))
    } else {
        (
            Severity::Warning,
            format!("the lease `{lock}` is renewed after {interval}, more than a third of {ttl}"),
        )
    };
    Draft::new(pause.location, "the pause between two renewals", message, HELP)
        .severity(severity)
        .lock(lock)
        .related(renewal.repetition.call, "the lease is renewed here")
}

fn shown(millis: i128) -> String {
    if millis % 1000 == 0 { format!("{} s", millis / 1000) } else { format!("{millis} ms") }
}
