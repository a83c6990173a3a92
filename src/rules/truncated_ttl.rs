//! The TTL of a lock loses a part of itself, or its unit, on the way into the command.

use crate::finding::Confidence;
use crate::locks::{Damage, Inventory};
use crate::rules::edits::command;
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for (operation, lifetime) in inventory.lifetimes() {
        let Some(damage) = lifetime.damage else { continue };
        let lock = &inventory.keys[operation.key].name;
        let (label, what, help) = words(damage);
        // A value that the text shows is wrong for certain; another one may happen to be whole.
        let is_certain = lifetime.millis.is_some() || !matches!(damage, Damage::Cut | Damage::Narrowed);
        let confidence = if is_certain { Confidence::High } else { Confidence::Medium };
        report.add(
            Draft::new(operation.location, label, format!("the TTL of the lock `{lock}` {what}"), help)
                .confidence(confidence)
                .lock(lock)
                .related_to_helper(operation.location, operation)
                .fix(command::milliseconds(operation, damage)),
        );
    }
}

fn words(damage: Damage) -> (&'static str, &'static str, &'static str) {
    match damage {
        Damage::Cut => (
            "cut to whole seconds",
            "is cut to whole seconds, so that a short one becomes 0",
            "give it in milliseconds (`PX`, `PEXPIRE`, `as_millis()`), or round it up",
        ),
        Damage::Narrowed => (
            "32 bits wide",
            "goes through 32 bits, so that a long one wraps round",
            "convert with `u64::try_from` or `i64::try_from`, and refuse what does not fit",
        ),
        Damage::SecondsAsMilliseconds => (
            "seconds, taken for milliseconds",
            "is given in seconds where the command counts milliseconds",
            "use `EX` or `EXPIRE`, or give the number of milliseconds",
        ),
        Damage::MillisecondsAsSeconds => (
            "milliseconds, taken for seconds",
            "is given in milliseconds where the command counts seconds",
            "use `PX` or `PEXPIRE`, or give the number of seconds",
        ),
    }
}
