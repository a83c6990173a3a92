//! A program that takes leases and dies from SIGTERM without giving them back.

use crate::locks::{Inventory, SigtermHandling};
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for binary in inventory.binaries.iter().filter(|binary| !binary.is_test) {
        let Some(lease) = &binary.takes_lease else { continue };
        let (reason, place) = match &binary.sigterm {
            SigtermHandling::Handled => continue,
            SigtermHandling::Missing => ("it handles no signal".to_owned(), None),
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
        report.add(draft);
    }
}
