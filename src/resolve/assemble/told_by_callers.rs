//! What callers know of a statement that the function which runs it does not: the pool, the time of their
//! clock, what they have compared before, and what becomes of the count that it hands on. It completes a site and judges nothing.

use crate::facts::Location;
use crate::locks::{CountUse, Executor, SqlSite};

use super::super::trace::Operation;

#[derive(Default)]
pub(super) struct ToldByCallers {
    /// The executor is a pool.
    pub(super) pool: bool,
    /// Where the clock behind each bound value is read.
    pub(super) clocks: Vec<Option<Location>>,
    /// Where what the row stores was read and compared before.
    pub(super) compared_reads: Vec<Location>,
    /// The call whose result is thrown away, and how far it is from the statement.
    dropped: Option<(usize, Location)>,
}

impl ToldByCallers {
    /// A caller nearer to the statement knows better: those further out see what it has left.
    pub(super) fn note_reply(&mut self, operation: &Operation) {
        let uses = operation.uses;
        let used = uses.tested || uses.compared || uses.passed || uses.returned || uses.count_read;
        let Some(call) = operation.via.first().filter(|_| !used) else { return };
        let far = operation.via.len();
        if self.dropped.is_none_or(|(known, _)| far < known) {
            self.dropped = Some((far, *call));
        }
    }

    pub(super) fn complete(&self, site: &mut SqlSite) {
        if self.pool && site.executor == Executor::Unknown && site.session_lock.is_some() {
            site.executor = Executor::Pool;
        }
        for (bind, clock) in site.binds.iter_mut().zip(&self.clocks) {
            bind.wall_clock = bind.wall_clock.or(*clock);
        }
        if site.compared_reads.is_empty() {
            site.compared_reads.clone_from(&self.compared_reads);
        }
        if let Some((_, call)) = self.dropped.filter(|_| site.count == CountUse::Returned) {
            site.count = CountUse::Ignored;
            site.count_dropped_by = Some(call);
        }
    }
}
