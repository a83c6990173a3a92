//! Evidence that a key is a lock: how it is set, compared and freed, and what the names around it say.
//! No name alone and no constant value alone is enough.

use std::collections::BTreeSet;

use super::keys::KeyName;
use crate::locks::vocabulary::{says_holding, says_lock, says_other, says_owner};
use crate::locks::{Action, Conventions, Evidence, Key, OwnerValue, Sequence};

/// More than all that can speak against it.
const DECLARED: i32 = 20;

/// The keys with their evidence, in the order of `names`.
pub fn weigh(names: &[KeyName], sequences: &[Sequence], conventions: &Conventions) -> Vec<Key> {
    let mut notes: Vec<Notes> = names.iter().map(|_| Notes::default()).collect();
    for sequence in sequences {
        note_sequence(sequence, &mut notes);
    }
    names
        .iter()
        .zip(notes)
        .map(|(name, notes)| Key {
            name: name.text.clone(),
            evidence: notes.evidence(&name.text, conventions.declares_lock_key(&name.text)),
            is_parameter: name.is_parameter,
            is_written: name.is_written,
            acquires: notes.acquires.into_iter().collect(),
        })
        .collect()
}

/// What was seen of one key.
#[derive(Default)]
struct Notes {
    acquires: BTreeSet<crate::facts::Location>,
    compared: bool,
    unique_owner: bool,
    named_owner: bool,
    released_after_work: bool,
    released_in_drop: bool,
    acquire_homes: BTreeSet<String>,
    release_homes: BTreeSet<String>,
    function_says_lock: bool,
    function_says_holding: bool,
    function_says_other: bool,
    counted: bool,
    /// A lock library, or the type of the object, says so.
    of_lock_library: bool,
    /// Where a plain SET follows a look at the key, and whether it stores who holds it.
    looked_homes: BTreeSet<String>,
    looked_owner: bool,
}

fn note_sequence(sequence: &Sequence, notes: &mut [Notes]) {
    for operation in sequence.operations.iter().filter(|operation| !operation.is_test) {
        let compared_read = operation.checks.iter().any(|check| {
            !check.with_constant
                && check.equal
                && sequence.operations.get(check.read).is_some_and(|read| read.key == operation.key)
        });
        let note = &mut notes[operation.key];
        note.of_lock_library |= operation.is_lock;
        match &operation.action {
            Action::Acquire { owner, .. } => {
                note.acquires.insert(operation.location);
                note.acquire_homes.insert(home(operation));
                match owner {
                    OwnerValue::Unique => note.unique_owner = true,
                    OwnerValue::Named(name) if says_owner(name) => note.named_owner = true,
                    _ => {}
                }
                note.names(&operation.function);
            }
            Action::Delete { compared } => {
                note.compared |= (*compared && !operation.compares_reading) || compared_read;
                note.released_in_drop |= operation.context.in_drop;
                note.released_after_work |= operation.after_acquire.is_some_and(|acquire| {
                    sequence.operations.get(acquire).is_some_and(|acquire| acquire.key == operation.key)
                });
                note.release_homes.insert(home(operation));
                note.names(&operation.function);
            }
            Action::Overwrite { owner, .. }
                if operation.decided_by.is_some() && !operation.context.in_script =>
            {
                // Who holds a lock is not read out of the store before it is taken.
                if *owner != OwnerValue::Read {
                    note.looked_homes.insert(home(operation));
                }
                note.looked_owner |= match owner {
                    OwnerValue::Named(name) => says_owner(name),
                    OwnerValue::Unique => true,
                    _ => false,
                } && says_lock(&operation.function);
            }
            Action::Expire { compared, .. } => {
                note.compared |= (*compared && !operation.compares_reading) || compared_read;
            }
            Action::Increment => note.counted = true,
            _ => {}
        }
    }
}

/// The type, or else the file, that an operation is written in.
fn home(operation: &crate::locks::Operation) -> String {
    let file = operation.inner.file.0;
    match operation.function.rsplit_once("::") {
        Some((owner, _)) => format!("{file}:{owner}"),
        None => file.to_string(),
    }
}

impl Notes {
    fn names(&mut self, function: &str) {
        self.function_says_lock |= says_lock(function);
        self.function_says_holding |= says_holding(function);
        self.function_says_other |= says_other(function);
    }

    fn evidence(&self, name: &str, is_declared: bool) -> Vec<Evidence> {
        let name_says_lock = self.of_lock_library || says_lock(name);
        // A cache is filled in this way, too; only the words around it tell the two apart.
        let by_look = !self.looked_homes.is_empty() && (name_says_lock || self.looked_owner);
        let never_set = self.acquires.is_empty() && !by_look && !self.of_lock_library;
        let looked = self.looked_homes.iter().filter(|_| by_look);
        let paired = self.acquire_homes.iter().chain(looked).any(|home| self.release_homes.contains(home));
        let candidates = [
            (is_declared, DECLARED, "the project's configuration says so"),
            (self.compared, 4, "its stored value is compared before it is deleted or extended"),
            (self.unique_owner, 2, "each acquisition stores a value of its own"),
            (self.named_owner || (by_look && self.looked_owner), 2, "it stores who holds it"),
            (self.of_lock_library, 4, "its library has nothing but locks"),
            (says_lock(name), 2, "its name says so"),
            (self.function_says_lock, 2, "the functions around it say so"),
            (self.function_says_holding, 1, "the functions around it take and give back"),
            (self.released_after_work, 2, "it is deleted after what its acquire guards"),
            (self.released_in_drop, 2, "a guard's Drop deletes it"),
            (paired, 1, "one type or file sets it with NX and deletes it"),
            (never_set, -2, "nothing sets it with NX"),
            (self.counted, -4, "it is a counter"),
            (says_other(name) && !name_says_lock, -3, "its name says that it is something else"),
            (
                self.function_says_other && !self.function_says_lock,
                -2,
                "the functions around it say that it is something else",
            ),
        ];
        candidates
            .into_iter()
            .filter(|(seen, ..)| *seen)
            .map(|(_, weight, reason)| Evidence { weight, reason })
            .collect()
    }
}
