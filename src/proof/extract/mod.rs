//! From the inventory to the protocols of its locks.
//!
//! It writes down what the operations and statements of each lock are in the terms of the model, and judges
//! nothing: whether a protocol does harm is for the search to find out.

mod keys;
mod regions;
mod rhythms;
mod rows;
mod sessions;

use std::collections::BTreeMap;

use super::protocol::{Part, Protocol, Role, Step, Store};
use crate::facts::Location;
use crate::locks::Inventory;

/// The protocols of all locks, by store and name.
pub fn protocols(inventory: &Inventory) -> Vec<Protocol> {
    let mut found = Found::default();
    keys::add(inventory, &mut found);
    rows::add(inventory, &mut found);
    sessions::add(inventory, &mut found);
    regions::add(inventory, &mut found);
    rhythms::add_defaults(inventory, &mut found);
    found.protocols.into_values().collect()
}

/// The protocols in the making.
#[derive(Default)]
struct Found {
    protocols: BTreeMap<(Store, String), Protocol>,
}

impl Found {
    fn of(&mut self, store: Store, lock: &str) -> &mut Protocol {
        let new = || Protocol { lock: lock.to_owned(), store, ..Protocol::default() };
        self.protocols.entry((store, lock.to_owned())).or_insert_with(new)
    }

    /// The lock of this name, whatever keeps it.
    fn named(&mut self, lock: &str) -> &mut Protocol {
        let store = self.protocols.keys().find(|(_, name)| name == lock).map(|(store, _)| *store);
        self.of(store.unwrap_or_default(), lock)
    }
}

impl Protocol {
    /// Adds a part, or the places of one that is known already.
    fn add(&mut self, part: Part) {
        let parts = match part.role {
            Role::Acquire => &mut self.acquires,
            Role::Renew => &mut self.renewals,
            Role::Write => &mut self.writes,
            Role::Release => &mut self.releases,
        };
        match parts.iter_mut().find(|known| known.steps == part.steps && known.rhythm == part.rhythm) {
            Some(known) => {
                for place in part.places {
                    if !known.places.contains(&place) {
                        known.places.push(place);
                    }
                }
            }
            None => parts.push(part),
        }
    }
}

fn part(role: Role, function: &str, steps: Vec<Step>, more: impl IntoIterator<Item = Location>) -> Part {
    let mut places: Vec<Location> = Vec::new();
    for place in steps.iter().filter_map(|step| step.place).chain(more) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    Part { role, function: function.to_owned(), steps, places, rhythm: super::protocol::Rhythm::default() }
}
