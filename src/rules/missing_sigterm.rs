//! A program that takes leases and dies from SIGTERM without giving them back.

use crate::finding::Confidence;
use crate::locks::{Binary, Inventory, SigtermHandling};
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for binary in inventory.binaries.iter().filter(|binary| !binary.is_test) {
        let Some(lease) = &binary.takes_lease else { continue };
        let (reason, place) = match &binary.sigterm {
            SigtermHandling::Handled => continue,
            SigtermHandling::Missing => (unheard(binary), None),
            SigtermHandling::OnlyInterrupt(place) => (
                "it hears Ctrl-C (SIGINT) only".to_owned(),
                Some((*place, "hears SIGINT, not SIGTERM".to_owned())),
            ),
            SigtermHandling::FeatureMissing { place, name, feature } => (
                format!("`{name}` hears SIGTERM only with its feature `{feature}`"),
                Some((*place, format!("without the feature `{feature}` this hears SIGINT only"))),
            ),
        };
        let mut draft = Draft::new(
            binary.main,
            "this program never handles SIGTERM",
            format!("`{}` takes the lock `{}` and dies from SIGTERM without releasing it: {reason}", binary.name, lease.lock),
            "handle SIGTERM (`tokio::signal::unix::signal(SignalKind::terminate())`), cancel the work and the renewal, await both, then release the lock",
        )
        .related(lease.location, "the lock is taken here")
        .lock(&lease.lock);
        if let Some((place, label)) = place {
            draft = draft.related(place, label);
        }
        if binary.may_hear.is_some() {
            draft = draft.confidence(Confidence::Low);
        }
        report.add(draft);
    }
}

fn unheard(binary: &Binary) -> String {
    match &binary.may_hear {
        Some(name) => format!("it handles no signal, unless `{name}` does"),
        None => "it handles no signal".to_owned(),
    }
}
