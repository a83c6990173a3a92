//! How renewals are repeated, and what ends them.

use super::{Found, part};
use crate::locks::{Handle, Inventory, OnFailure, Repetition};
use crate::locks::{Lifetime, RenewalLoop};
use crate::proof::protocol::{Answer, Asks, Command, Failure, Life, Rhythm, Role, Step, Stops, Store};

/// The rhythm of a loop that renews a lease.
pub(super) fn of(repetition: &Repetition, loops: &[RenewalLoop<'_>]) -> Rhythm {
    let known = loops.iter().find(|known| std::ptr::eq(known.repetition, repetition));
    let ttl = known.map_or(Lifetime::UNKNOWN, |known| known.ttl.clone());
    let pause = repetition.pause.as_ref();
    let handle = repetition.task.map(|task| task.handle);
    let is_free = !repetition.can_be_stopped;
    let left_by = repetition.task.and_then(|task| task.left_by);
    let is_unseen = matches!(handle, Some(Handle::Dropped | Handle::Stopped | Handle::StoppedAfterRelease));
    Rhythm {
        pause: pause
            .and_then(|pause| pause.length.as_part_of(&ttl))
            .and_then(|(part, whole)| small(part, whole)),
        on_failure: match repetition.on_failure {
            OnFailure::GoesOn => Failure::GoesOn,
            OnFailure::Ends if is_unseen => Failure::Ends,
            OnFailure::Ends | OnFailure::Tells => Failure::Tells,
        },
        borne: repetition.failures_borne.map_or(1, |borne| u8::try_from(borne).unwrap_or(u8::MAX).max(1)),
        stops: match handle {
            Some(Handle::Dropped) if is_free => Stops::Never,
            Some(Handle::StoppedAfterRelease) => Stops::AfterRelease,
            Some(Handle::Stopped) if is_free && left_by.is_some() => Stops::UnlessLeft,
            _ => Stops::BeforeRelease,
        },
        paused_at: pause.map(|pause| pause.location),
        left_at: left_by,
        repeated: true,
    }
}

/// A fraction in numbers that the model can count with.
fn small(part: i128, whole: i128) -> Option<(u32, u32)> {
    let (mut a, mut b) = (part, whole);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    let scale = |n: i128| u32::try_from(n / a.max(1)).ok();
    Some((scale(part)?, scale(whole)?))
}

/// Intervals and TTLs that the defaults of configurations put side by side.
pub(super) fn add_defaults(inventory: &Inventory, found: &mut Found) {
    for default in &inventory.renewal_defaults {
        let extend =
            Command::Extend { asks: Asks::Stored, life: Life::Timed, revives: false, answer: Answer::Heard };
        let step = Step { command: extend, place: Some(default.location) };
        let mut renewal = part(Role::Renew, &default.ty, vec![step], [default.ttl_at]);
        renewal.rhythm = Rhythm {
            pause: small(default.interval, default.ttl),
            borne: 3,
            repeated: true,
            paused_at: Some(default.location),
            ..Rhythm::default()
        };
        found.of(Store::Elsewhere, &default.ty).add(renewal);
    }
}
