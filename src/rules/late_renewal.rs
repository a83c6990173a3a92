//! The renewal comes less often than every third of the lease's TTL.

use crate::finding::{Confidence, Severity};
use crate::locks::{Inventory, Pause, RenewalDefault, RenewalLoop};
use crate::rules::{Draft, Reporter};

const HELP: &str = "renew at a third of the TTL, so that two renewals may fail before the lease ends";

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    let loops = inventory.renewal_loops();
    for default in &inventory.renewal_defaults {
        if is_late(default) && !is_judged_in_a_loop(default, &loops) {
            report.add(late_default(default));
        }
    }
    for renewal in loops {
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

fn is_late(default: &RenewalDefault) -> bool {
    default.interval.checked_mul(3).is_some_and(|thirds| thirds > default.ttl)
}

/// Whether a loop waits for the very field, so that its pause is compared with the TTL of its lease.
fn is_judged_in_a_loop(default: &RenewalDefault, loops: &[RenewalLoop<'_>]) -> bool {
    let field = format!("{}.{}", default.ty, default.field);
    loops.iter().any(|renewal| {
        renewal.repetition.pause.as_ref().is_some_and(|pause| {
            pause.length.share.as_ref().is_some_and(|share| share.of == field)
                && pause.length.as_part_of(&renewal.ttl).is_some()
        })
    })
}

fn late_default(default: &RenewalDefault) -> Draft {
    let (interval, ttl) = (shown(default.interval), shown(default.ttl));
    let message = format!(
        "by default `{}` renews its lease after {interval}, more than a third of its TTL of {ttl}",
        default.ty
    );
    let severity = if default.interval >= default.ttl { Severity::Error } else { Severity::Warning };
    Draft::new(default.location, "decides when the lease is renewed", message, HELP)
        .severity(severity)
        .confidence(Confidence::Medium)
        .related(default.ttl_at, "the TTL by default")
}

fn shown(millis: i128) -> String {
    if millis % 1000 == 0 { format!("{} s", millis / 1000) } else { format!("{millis} ms") }
}
