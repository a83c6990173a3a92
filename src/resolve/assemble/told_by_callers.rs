//! What callers hand down to a function that runs a statement: the pool, and the time of their clock. It
//! completes a site and judges nothing.

use crate::facts::Location;
use crate::locks::{Executor, SqlSite};

/// What callers know of a statement that the function which runs it does not.
#[derive(Default)]
pub(super) struct ToldByCallers {
    /// The executor is a pool.
    pub(super) pool: bool,
    /// Where the clock behind each bound value is read.
    pub(super) clocks: Vec<Option<Location>>,
}

impl ToldByCallers {
    pub(super) fn complete(&self, site: &mut SqlSite) {
        if self.pool && site.executor == Executor::Unknown && site.session_lock.is_some() {
            site.executor = Executor::Pool;
        }
        for (bind, clock) in site.binds.iter_mut().zip(&self.clocks) {
            bind.wall_clock = bind.wall_clock.or(*clock);
        }
    }
}
