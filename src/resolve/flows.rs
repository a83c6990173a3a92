//! What has flowed into a value: from replies, parameters, fields and clocks. There are as many of these
//! as there are values, so they are kept small; what a value is is not their concern.

use std::rc::Rc;

use thin_vec::ThinVec;

use crate::facts::Location;

use super::value::OperationIndex;

/// A set of the few things that flow into one value, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Few<T> {
    sorted: ThinVec<T>,
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self { sorted: ThinVec::new() }
    }
}

impl<T: Ord + Clone> Few<T> {
    pub fn insert(&mut self, item: T) {
        if let Err(at) = self.sorted.binary_search(&item) {
            self.sorted.reserve_exact(1);
            self.sorted.insert(at, item);
        }
    }

    pub fn absorb(&mut self, other: &Self) {
        if self.sorted.is_empty() {
            self.sorted.clone_from(&other.sorted);
            return;
        }
        let missing = other.sorted.iter().any(|item| self.sorted.binary_search(item).is_err());
        if missing {
            self.sorted.extend(other.sorted.iter().cloned());
            self.sorted.sort_unstable();
            self.sorted.dedup();
        }
    }

    pub fn contains(&self, item: &T) -> bool {
        self.sorted.binary_search(item).is_ok()
    }

    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    pub fn clear(&mut self) {
        self.sorted.clear();
    }

    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.sorted.iter()
    }
}

impl<T: Ord> FromIterator<T> for Few<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut sorted: ThinVec<T> = items.into_iter().collect();
        sorted.sort_unstable();
        sorted.dedup();
        Self { sorted }
    }
}

impl<'s, T> IntoIterator for &'s Few<T> {
    type Item = &'s T;
    type IntoIter = std::slice::Iter<'s, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.sorted.iter()
    }
}

/// When a monotonic clock was read, by how many operations of the trace came before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    pub position: usize,
    pub location: Location,
}

/// A question, asked in this process, whether a lease is still held, as far as names and clocks show.
#[derive(Debug, PartialEq, Eq)]
pub struct HeldQuestion {
    pub location: Location,
    pub asks: Asks,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Asks {
    /// A method, function or field of this name, of a value of this type.
    Name { name: Rc<str>, of: Rc<str> },
    /// A clock is compared for order with something.
    Clock,
}

/// What has flowed into a value through calls, operators and fields that nothing else is known of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flows {
    /// Replies of operations.
    pub replies: Few<OperationIndex>,
    /// Parameters of the function under evaluation.
    pub params: Few<usize>,
    /// Fields, by the type that has them.
    pub fields: Few<(Rc<str>, Rc<str>)>,
    /// A reading of this process's wall clock, and where it was made.
    pub wall_clock: Option<Location>,
    /// That reading was moved into the past.
    pub moved_back: bool,
    /// A span was added to that reading: a moment to come.
    pub moved_on: bool,
    /// A reading of a monotonic clock: the earliest.
    pub monotonic: Option<Moment>,
    /// A lease, or a session, that was made here.
    pub lease: Option<Location>,
    /// A signal that asks the process to end, or the wait for one, and where it is named.
    pub signal: Option<Location>,
    /// A random number, a UUID: different for each evaluation.
    pub random: bool,
    /// Where that was made, when the text shows it.
    pub random_at: Option<Location>,
    /// The name of this process or host: the same for each evaluation in it.
    pub process: bool,
    /// Handles of started tasks and threads, by their number in the trace.
    pub tasks: Few<usize>,
    /// A part of a time was cut off where it was turned into a whole number.
    pub cut: bool,
    /// It went through a type of 32 bits or fewer.
    pub narrowed: bool,
    /// What a number counts, as the name of its constant or the method that made it says.
    pub unit: Option<TimeUnit>,
    /// It answers this question, or rests on the answer.
    pub held: Option<Rc<HeldQuestion>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    Seconds,
    Milliseconds,
}

impl Flows {
    pub fn absorb(&mut self, other: &Flows) {
        self.replies.absorb(&other.replies);
        self.params.absorb(&other.params);
        self.fields.absorb(&other.fields);
        self.wall_clock = self.wall_clock.or(other.wall_clock);
        self.monotonic = [self.monotonic, other.monotonic].into_iter().flatten().min();
        self.signal = self.signal.or(other.signal);
        self.lease = self.lease.or(other.lease);
        self.random |= other.random;
        self.random_at = self.random_at.or(other.random_at);
        self.process |= other.process;
        self.moved_back |= other.moved_back;
        self.moved_on |= other.moved_on;
        self.tasks.absorb(&other.tasks);
        self.cut |= other.cut;
        self.narrowed |= other.narrowed;
        self.unit = self.unit.or(other.unit);
        if self.held.is_none() {
            self.held.clone_from(&other.held);
        }
    }
}
