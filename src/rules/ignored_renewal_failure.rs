//! A renewal fails, and the work that the lease protects goes on.

use crate::facts::Location;
use crate::finding::Confidence;
use crate::locks::{Handle, Inventory, OnFailure, RenewalLoop};
use crate::rules::{Draft, Reporter};

/// A holder may bear so many failed renewals in a row.
const BEARABLE: i128 = 2;

const HELP: &str = "cancel the work when the lease is lost or two renewals in a row have failed: cancel a token, \
                    close a channel, or run the loop and the work in one `select!`";

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for renewal in inventory.renewal_loops() {
        // Without a comparison, the renewal itself is the defect.
        if !renewal.compared {
            continue;
        }
        if let Some((label, message)) = defect(&renewal) {
            let is_counted = renewal.repetition.on_failure == OnFailure::Tells;
            let confidence = if is_counted { Confidence::Medium } else { Confidence::High };
            let place = place(&renewal);
            report.add(Draft::new(place, label, message, HELP).confidence(confidence).lock(&renewal.lock));
        }
    }
}

fn defect(renewal: &RenewalLoop<'_>) -> Option<(&'static str, String)> {
    let lock = &renewal.lock;
    let repetition = renewal.repetition;
    match repetition.on_failure {
        OnFailure::GoesOn => Some((
            "a failure here changes nothing",
            format!("the work goes on when the lease `{lock}` cannot be renewed or is lost"),
        )),
        OnFailure::Ends if repetition.task.is_some_and(|task| is_unseen(task.handle)) => Some((
            "a failure here ends only the renewals",
            format!("when the lease `{lock}` is lost, the renewals end and the work does not hear of it"),
        )),
        _ => {
            let borne = repetition.failures_borne.filter(|borne| *borne > BEARABLE)?;
            (!leaves_time(renewal, borne)).then(|| {
                (
                    "failures in a row are counted here",
                    format!(
                        "the work on the lease `{lock}` goes on until {borne} renewals in a row have failed"
                    ),
                )
            })
        }
    }
}

/// The statement where it is written in the loop itself, or else what the loop calls.
fn place(renewal: &RenewalLoop<'_>) -> Location {
    let repetition = renewal.repetition;
    let is_inside = |place: &Location| {
        let around = repetition.location;
        place.file == around.file
            && around.span.start <= place.span.start
            && place.span.end <= around.span.end
    };
    renewal.statement.filter(|place| repetition.is_direct && is_inside(place)).unwrap_or(repetition.call)
}

/// Whether nobody sees the task end before the work does.
fn is_unseen(handle: Handle) -> bool {
    matches!(handle, Handle::Dropped | Handle::Stopped | Handle::StoppedAfterRelease)
}

/// Whether so many rounds fit into the TTL.
fn leaves_time(renewal: &RenewalLoop<'_>, rounds: i128) -> bool {
    let pause = renewal.repetition.pause.as_ref();
    let part = pause.and_then(|pause| pause.length.as_part_of(&renewal.ttl));
    part.is_some_and(|(part, whole)| part.checked_mul(rounds).is_some_and(|spent| spent < whole))
}
