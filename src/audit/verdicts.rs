//! The verdict on each item of the checklist, from the findings, the protocol and the model.

use super::{Item, LockAudit, Model, Verdict, words};
use crate::finding::Finding;
use crate::harm::Harm;
use crate::locks::{Binary, Inventory, SigtermHandling};
use crate::proof::protocol::Protocol;
use crate::rules;

/// What is known of one lock.
pub(super) struct Known<'a> {
    pub(super) inventory: &'a Inventory,
    pub(super) protocol: &'a Protocol,
    pub(super) findings: &'a [Finding],
    /// The findings about it.
    pub(super) own: &'a [usize],
    pub(super) model: &'a Model,
}

pub(super) fn all(known: &Known<'_>) -> [Verdict; 4] {
    Item::ALL.map(|item| {
        let failed = known.failed(item);
        if !failed.is_empty() {
            return Verdict::Fails(failed);
        }
        match item {
            Item::Storage => known.storage(),
            Item::Atomic => known.atomic(),
            Item::Clock => known.clock(),
            Item::Shutdown => known.shutdown(),
        }
    })
}

impl Known<'_> {
    fn failed(&self, item: Item) -> Vec<usize> {
        let speaks = |at: &&usize| {
            let rule = self.findings.get(**at).and_then(|finding| rules::find(finding.rule));
            rule.is_some_and(|rule| item.groups().contains(&rule.group.as_str()))
        };
        self.own.iter().filter(speaks).copied().collect()
    }

    fn storage(&self) -> Verdict {
        let writes = &self.protocol.writes;
        let open = writes.iter().filter(|write| !words::is_fenced(write)).count();
        match (writes.len(), open) {
            (0, _) => Verdict::Unknown("no write under it is seen".to_owned()),
            (_, 0) if self.model.reached.contains(&Harm::StaleWrite) => {
                Verdict::Unknown("in the model a stale write passes, and no rule speaks of it".to_owned())
            }
            (all, 0) => Verdict::Holds(format!(
                "{} refused when they are stale",
                counted(all, "write is", "writes are")
            )),
            (_, open) => Verdict::Unknown(format!(
                "{} not fenced, and no rule calls that a defect",
                counted(open, "write is", "writes are")
            )),
        }
    }

    fn atomic(&self) -> Verdict {
        if self.protocol.acquires.is_empty() {
            return Verdict::Unknown("no acquire is seen".to_owned());
        }
        let model = self.model;
        if model.is_cut {
            return Verdict::Unknown("the model has too many states".to_owned());
        }
        // What the storage lets in is the first item's.
        if let Some(harm) = model.reached.iter().find(|harm| **harm != Harm::StaleWrite) {
            return Verdict::Unknown(format!("in the model {}, and no rule speaks of it", harm.sentence()));
        }
        Verdict::Holds(format!(
            "no harm in {} states of {}",
            model.states,
            counted(model.programs, "program", "programs")
        ))
    }

    fn clock(&self) -> Verdict {
        if self.protocol.acquires.is_empty() && self.protocol.renewals.is_empty() {
            return Verdict::Unknown("nothing is seen that gives it a lifetime".to_owned());
        }
        Verdict::Holds("its lifetime is counted by its store".to_owned())
    }

    fn shutdown(&self) -> Verdict {
        let binaries: Vec<&Binary> = takers(self.inventory).collect();
        let deaf: Vec<&str> = binaries
            .iter()
            .filter(|binary| binary.sigterm != SigtermHandling::Handled)
            .map(|binary| binary.name.as_str())
            .collect();
        match (binaries.as_slice(), deaf.as_slice()) {
            ([], _) => Verdict::Unknown("no program of these sources takes a lock".to_owned()),
            (_, []) => Verdict::Holds(shutdown(self.inventory)),
            (_, deaf) => Verdict::Unknown(format!(
                "{} may take it, and not hear SIGTERM",
                deaf.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
            )),
        }
    }
}

fn takers(inventory: &Inventory) -> impl Iterator<Item = &Binary> {
    inventory.binaries.iter().filter(|binary| binary.takes_lease.is_some() && !binary.is_test)
}

/// Which programs hear SIGTERM.
pub(super) fn shutdown(inventory: &Inventory) -> String {
    let said: Vec<String> = takers(inventory)
        .map(|binary| {
            let hears = if binary.sigterm == SigtermHandling::Handled { "hears" } else { "does not hear" };
            format!("`{}` {hears} SIGTERM", binary.name)
        })
        .collect();
    if said.is_empty() { "no program of these sources takes it".to_owned() } else { said.join(", ") }
}

fn counted(count: usize, one: &str, more: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {more}") }
}

impl LockAudit {
    pub fn verdict(&self, item: Item) -> &Verdict {
        let at = Item::ALL.iter().position(|known| *known == item).unwrap_or_default();
        &self.verdicts[at]
    }
}
