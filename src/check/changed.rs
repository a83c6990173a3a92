//! Which findings a change concerns: those on its lines, and those of the locks that it touches.

use std::collections::BTreeSet;

use crate::changes::Changes;
use crate::facts::Location;
use crate::finding::Finding;
use crate::locks::Inventory;
use crate::locks::tables::writes;
use crate::sources::Sources;

pub(super) struct Touched<'a> {
    changes: &'a Changes,
    sources: &'a Sources,
    /// Keys and tables with an operation on a changed line, in lower case.
    locks: BTreeSet<String>,
}

impl<'a> Touched<'a> {
    pub(super) fn new(changes: &'a Changes, inventory: &Inventory, sources: &'a Sources) -> Self {
        let mut touched = Self { changes, sources, locks: BTreeSet::new() };
        let mut locks = BTreeSet::new();
        for operation in inventory.sequences.iter().flat_map(|sequence| &sequence.operations) {
            let key = &inventory.keys[operation.key];
            if key.is_lock() && (touched.holds(operation.location) || touched.holds(operation.inner)) {
                locks.insert(key.name.to_lowercase());
            }
        }
        for site in &inventory.statements {
            if touched.holds(site.location()) || site.call.is_some_and(|call| touched.holds(call)) {
                locks.extend(
                    writes(&site.statement.kind).iter().map(|nested| nested.write.table.name.to_lowercase()),
                );
            }
        }
        touched.locks = locks;
        touched
    }

    pub(super) fn concerns(&self, finding: &Finding) -> bool {
        let places = finding.related.iter().map(|label| label.location);
        let is_touched = |lock: &String| self.locks.contains(&lock.to_lowercase());
        std::iter::once(finding.primary).chain(places).any(|place| self.holds(place))
            || finding.lock.as_ref().is_some_and(is_touched)
    }

    /// Whether a line of this place has changed.
    fn holds(&self, place: Location) -> bool {
        let line = |offset| self.sources.position(place.file, offset).line;
        let lines = (line(place.span.start), line(place.span.end));
        self.changes.touch(self.sources.absolute(place.file), lines)
    }
}
