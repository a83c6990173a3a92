//! Locks in stores of keys: what each function does to one key, as steps of the model.

use super::{Found, part, rhythms};
use crate::facts::Location;
use crate::locks::vocabulary::says_renewal;
use crate::locks::{Action, Damage, Inventory, Operation, OwnerValue, RenewalLoop, ReplyUse, Sequence, Ttl};
use crate::proof::protocol::{Answer, Asks, Command, Life, Owner, Part, Role, Step, Store, TokenOf};

pub(super) fn add(inventory: &Inventory, found: &mut Found) {
    let loops = inventory.renewal_loops();
    for sequence in &inventory.sequences {
        let reader = Reader { inventory, sequence, loops: &loops };
        for (at, operation) in sequence.operations.iter().enumerate() {
            if operation.is_test {
                continue;
            }
            let key = &inventory.keys[operation.key];
            let Some(part) = reader.part(at, operation) else { continue };
            let protocol = found.of(Store::Keys, &key.name);
            if protocol.evidence.is_empty() && key.is_lock() {
                protocol.evidence = key.evidence.iter().map(|evidence| evidence.reason.to_owned()).collect();
            }
            protocol.add(part);
        }
        if let Some(part) = reader.retaken()
            && let Some(operation) = part.1
        {
            found.of(Store::Keys, &inventory.keys[operation].name).add(part.0);
        }
    }
}

struct Reader<'s> {
    inventory: &'s Inventory,
    sequence: &'s Sequence,
    loops: &'s [RenewalLoop<'s>],
}

impl Reader<'_> {
    fn part(&self, at: usize, operation: &Operation) -> Option<Part> {
        match &operation.action {
            Action::Acquire { ttl, owner } => Some(self.acquire(at, operation, ttl, owner)),
            Action::Overwrite { only_if_present: false, ttl, owner } => {
                Some(self.overwrite(operation, ttl, owner))
            }
            Action::Expire { ttl, .. } | Action::Overwrite { ttl, .. } => {
                let belongs = self.sequence.completes_an_acquire(operation) || self.is_of_a_take(operation);
                (!belongs).then(|| self.renewal(operation, ttl))
            }
            Action::Delete { .. } => Some(self.release(operation)),
            Action::Read | Action::Exists | Action::Increment | Action::Watch => None,
        }
    }

    fn acquire(&self, at: usize, operation: &Operation, ttl: &Ttl, owner: &OwnerValue) -> Part {
        let later =
            (*ttl == Ttl::None && !operation.context.in_script).then(|| self.later_expiry(at, operation));
        let later = later.flatten();
        let is_heard_later = later.is_some_and(|expiry| expiry.after_acquire.is_none());
        let take = Command::Take {
            asks: Asks::Stored,
            life: match ttl {
                Ttl::None if self.expires_with_it(at, operation) => Life::Timed,
                ttl => life(ttl),
            },
            owner: owner_of(owner),
            token: TokenOf::Take,
            answer: match answer(operation) {
                Answer::Heard if is_heard_later => Answer::HeardLater,
                answer => answer,
            },
        };
        let mut steps = vec![step(take, operation)];
        if let Some(expiry) = later {
            let life = expiry.action.lifetime().map_or(Life::Timed, |lifetime| damaged(lifetime.damage));
            let extend = Command::Extend { asks: Asks::Nothing, life, revives: false, answer: Answer::Heard };
            steps.push(step(extend, expiry));
            if is_heard_later {
                steps.push(Step { command: Command::Decide, place: Some(operation.location) });
            }
        }
        let places = places(operation).chain(later.into_iter().flat_map(places)).collect::<Vec<_>>();
        part(Role::Acquire, &self.sequence.function, steps, places)
    }

    /// The expiry that comes behind an acquire as a command of its own.
    fn later_expiry(&self, at: usize, acquire: &Operation) -> Option<&Operation> {
        self.sequence.operations[at + 1..].iter().find(|operation| {
            operation.key == acquire.key
                && matches!(operation.action, Action::Expire { compared: false, .. })
                && !operation.context.in_script
                && !operation.context.spawned
                && !is_sent_with(operation, acquire)
                && (operation.after_acquire.is_some() || operation.checks.is_empty())
        })
    }

    /// Whether a command of the same script or transaction gives the key its expiry.
    fn expires_with_it(&self, at: usize, acquire: &Operation) -> bool {
        self.sequence.operations[at + 1..].iter().any(|operation| {
            let in_script = acquire.context.in_script && operation.location == acquire.location;
            operation.key == acquire.key
                && matches!(operation.action, Action::Expire { .. })
                && (in_script || is_sent_with(operation, acquire))
        })
    }

    /// The script that takes the key by a plain SET gives it its lifetime as well.
    fn is_of_a_take(&self, operation: &Operation) -> bool {
        let takes =
            |other: &Operation| matches!(other.action, Action::Overwrite { only_if_present: false, .. });
        self.sequence.operations.iter().any(|other| {
            operation.context.in_script
                && other.step == operation.step
                && other.key == operation.key
                && takes(other)
        })
    }

    /// A SET that takes the lock, or takes it away.
    fn overwrite(&self, operation: &Operation, ttl: &Ttl, owner: &OwnerValue) -> Part {
        let sequence = self.sequence;
        if let Some(read) = sequence.ownership_read(operation).filter(|_| sequence.is_own(operation)) {
            return self.extension(operation, ttl, Some(read), true);
        }
        // A script that has asked before is one step; one that nobody competes with by NX asks for something else,
        // such as the head of a queue.
        let is_alone = self.inventory.keys[operation.key].acquires.is_empty();
        let in_one_step = operation.context.in_script
            && (is_alone
                || sequence.operations.iter().any(|other| {
                    other.step == operation.step
                        && other.key == operation.key
                        && matches!(other.action, Action::Read | Action::Exists)
                        && operation.decided_by.is_some()
                }));
        let look = operation.decided_by.and_then(|at| sequence.operations.get(at)).filter(|_| !in_one_step);
        let gets_lifetime = operation.context.in_script
            && *ttl == Ttl::None
            && sequence.operations.iter().any(|other| {
                other.step == operation.step
                    && other.key == operation.key
                    && matches!(other.action, Action::Expire { .. })
            });
        let take = Command::Take {
            asks: match look {
                _ if in_one_step => Asks::Stored,
                Some(_) => Asks::Remembered,
                None => Asks::Nothing,
            },
            life: if gets_lifetime { Life::Timed } else { life(ttl) },
            owner: owner_of(owner),
            token: TokenOf::Take,
            answer: Answer::Heard,
        };
        let mut steps: Vec<Step> = look.map(|look| step(Command::Look, look)).into_iter().collect();
        steps.push(step(take, operation));
        let beside = look.map(|look| operation.place_beside(look));
        part(Role::Acquire, &sequence.function, steps, places(operation).chain(beside))
    }

    fn renewal(&self, operation: &Operation, ttl: &Ttl) -> Part {
        self.extension(operation, ttl, self.sequence.ownership_read(operation), false)
    }

    fn extension(&self, operation: &Operation, ttl: &Ttl, read: Option<&Operation>, revives: bool) -> Part {
        let compared = matches!(operation.action, Action::Expire { compared: true, .. }) || operation.watched;
        let asks = match read {
            _ if compared => Asks::Stored,
            Some(_) => Asks::Remembered,
            None => Asks::Nothing,
        };
        let extend = Command::Extend { asks, life: life(ttl), revives, answer: Answer::Heard };
        let look = read.filter(|_| asks == Asks::Remembered);
        let mut steps: Vec<Step> = look.map(|look| step(Command::Look, look)).into_iter().collect();
        steps.push(step(extend, operation));
        let repetition = operation.repetition.as_ref();
        let beside = look.map(|look| operation.place_beside(look));
        let more = places(operation).chain(beside).chain(repetition.into_iter().flat_map(loop_places));
        let mut part = part(Role::Renew, &self.sequence.function, steps, more);
        if let Some(repetition) = repetition {
            part.rhythm = rhythms::of(repetition, self.loops);
        }
        part
    }

    fn release(&self, operation: &Operation) -> Part {
        let read = self.sequence.ownership_read(operation);
        let compared = operation.action == Action::Delete { compared: true };
        let asks = match read {
            _ if compared || operation.watched || operation.token_in_key => Asks::Stored,
            Some(_) => Asks::Remembered,
            None => Asks::Nothing,
        };
        let dropped = operation.reply == ReplyUse::Ignored && operation.pipeline.is_none();
        let answer = if dropped { Answer::Dropped } else { Answer::Heard };
        let mut steps = Vec::new();
        if let Some(started) = operation.spawned_at.filter(|_| operation.context.in_drop) {
            steps.push(Step { command: Command::Detach, place: Some(started) });
        } else if operation.context.in_drop && operation.context.spawned {
            steps.push(step(Command::Detach, operation));
        }
        let look = read.filter(|_| asks == Asks::Remembered);
        steps.extend(look.map(|look| step(Command::Look, look)));
        steps.push(step(Command::Free { asks, answer, is_last: true }, operation));
        let beside = look.map(|look| operation.place_beside(look));
        part(Role::Release, &self.sequence.function, steps, places(operation).chain(beside))
    }

    /// A renewal that gives the lock up and takes it again.
    fn retaken(&self) -> Option<(Part, Option<usize>)> {
        if !says_renewal(&self.sequence.function) {
            return None;
        }
        let operations = &self.sequence.operations;
        let (at, release) = operations.iter().enumerate().find(|(_, operation)| {
            matches!(operation.action, Action::Delete { .. }) && operation.after_acquire.is_none()
        })?;
        let acquire = operations[at + 1..]
            .iter()
            .find(|o| o.key == release.key && o.action.is_acquire() && !o.is_test)?;
        let Action::Acquire { ttl, owner } = &acquire.action else { return None };
        let free = Command::Free { asks: Asks::Stored, answer: Answer::Heard, is_last: false };
        let take = Command::Take {
            asks: Asks::Stored,
            life: life(ttl),
            owner: owner_of(owner),
            token: TokenOf::Take,
            answer: Answer::Heard,
        };
        let steps = vec![step(free, release), step(take, acquire)];
        let more = [release.place_beside(acquire), acquire.place_beside(release)];
        Some((part(Role::Renew, &self.sequence.function, steps, more), Some(release.key)))
    }
}

/// Whether both are in one transaction of the store.
fn is_sent_with(operation: &Operation, acquire: &Operation) -> bool {
    acquire.pipeline.is_some_and(|(pipeline, atomic)| {
        atomic && operation.pipeline.is_some_and(|(other, _)| other == pipeline)
    })
}

fn step(command: Command, operation: &Operation) -> Step {
    Step { command, place: Some(operation.location) }
}

/// Every place by which a finding may mean an operation.
fn places(operation: &Operation) -> impl Iterator<Item = Location> + '_ {
    let own = [operation.location, operation.inner];
    own.into_iter().chain(operation.via.iter().copied()).chain(operation.spawned_at)
}

pub(super) fn loop_places(repetition: &crate::locks::Repetition) -> Vec<Location> {
    let mut places = vec![repetition.location, repetition.call];
    places.extend(repetition.pause.as_ref().map(|pause| pause.location));
    places.extend(repetition.task.map(|task| task.started_at));
    places.extend(repetition.task.and_then(|task| task.left_by));
    places
}

fn answer(operation: &Operation) -> Answer {
    if operation.error_is_yes {
        return Answer::ErrorIsYes;
    }
    let alone = !operation.context.in_script && operation.pipeline.is_none();
    if operation.reply == ReplyUse::Ignored && alone { Answer::Dropped } else { Answer::Heard }
}

fn life(ttl: &Ttl) -> Life {
    match ttl {
        Ttl::None => Life::Endless,
        Ttl::Given(lifetime) => damaged(lifetime.damage),
        Ttl::WallClock(_) | Ttl::UntilWallClock(_) => Life::Timed,
    }
}

fn damaged(damage: Option<Damage>) -> Life {
    match damage {
        None => Life::Timed,
        Some(Damage::MillisecondsAsSeconds) => Life::TooLong,
        Some(Damage::Cut | Damage::Narrowed | Damage::SecondsAsMilliseconds) => Life::TooShort,
    }
}

fn owner_of(owner: &OwnerValue) -> Owner {
    match owner {
        OwnerValue::Constant(_) | OwnerValue::PerProcess => Owner::Shared,
        OwnerValue::Unique | OwnerValue::Named(_) | OwnerValue::Read | OwnerValue::Unknown => Owner::Own,
    }
}
