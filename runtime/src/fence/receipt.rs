//! Finding out whether a transaction was committed whose commit had no answer. Each one leaves an id in its fence row,
//! which is written with the rest of the transaction or not at all; the row keeps the last few.

use std::fmt;
use std::time::Duration;

use super::{FenceError, Resource};

/// Length of an id.
const ID: usize = 8;

/// So many ids are kept in a fence row; the length of the column `recent` is this many ids.
const KEPT: i64 = 16;

/// With which it can be found out later whether a transaction was committed. Comes with
/// [`FenceError::CommitUnknown`]; the fence of the same database has the method `find_out`.
#[derive(Clone, PartialEq, Eq)]
pub struct Receipt {
    resource: Resource,
    id: [u8; ID],
    /// Which transaction of the resource it would have been, by the count in the fence row.
    number: i64,
    patience: Duration,
}

/// What became of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// It was committed, as a whole.
    Committed,
    /// It was rolled back, or the database has been put back to a state from before it.
    RolledBack,
    /// So many transactions of the resource have been committed since (16 and more) that its fence row cannot tell.
    NoLongerKnown,
}

impl Receipt {
    /// For a transaction that is about to begin, and that its server ends by itself when it has stood still for the
    /// lease's TTL.
    pub(crate) fn fresh(resource: &Resource, ttl: Duration) -> Result<Self, FenceError> {
        let mut id = [0; ID];
        getrandom::fill(&mut id).map_err(|error| FenceError::Database {
            action: "beginning a transaction",
            cause: error.into(),
            advice: "the operating system gave no random bytes; nothing was written",
        })?;
        let patience = ttl.saturating_add(Duration::from_secs(5));
        Ok(Self { resource: resource.clone(), id, number: 0, patience })
    }

    /// The resource of the transaction.
    #[must_use]
    pub fn resource(&self) -> &Resource {
        &self.resource
    }

    pub(crate) fn id(&self) -> &[u8] {
        &self.id
    }

    pub(crate) fn set_number(&mut self, number: i64) {
        self.number = number;
    }

    /// How long to wait for the end of a transaction that nobody hears any more.
    pub(crate) fn patience(&self) -> Duration {
        self.patience
    }

    /// By what the fence row says once the transaction has ended: its count, and its last ids, newest first.
    pub(crate) fn ending(&self, writes: i64, recent: &[u8]) -> Ending {
        if recent.chunks_exact(ID).any(|id| id == self.id) {
            Ending::Committed
        } else if writes.saturating_sub(self.number) < KEPT {
            Ending::RolledBack
        } else {
            Ending::NoLongerKnown
        }
    }
}

impl fmt::Debug for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receipt")
            .field("resource", &self.resource)
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row as the statements make it.
    struct FenceRow {
        writes: i64,
        recent: Vec<u8>,
    }

    impl FenceRow {
        fn write(&mut self) -> Receipt {
            let mut receipt =
                Receipt::fresh(&Resource::new("accounts").unwrap(), Duration::from_secs(1)).unwrap();
            self.writes += 1;
            receipt.set_number(self.writes);
            self.recent.splice(..0, receipt.id.iter().copied());
            self.recent.truncate(128);
            receipt
        }

        fn says(&self, receipt: &Receipt) -> Ending {
            receipt.ending(self.writes, &self.recent)
        }
    }

    #[test]
    fn an_ending_is_known_for_sixteen_transactions() {
        let mut row = FenceRow { writes: 40, recent: Vec::new() };
        let committed = row.write();
        let mut rolled_back = Receipt::fresh(committed.resource(), Duration::from_secs(1)).unwrap();
        rolled_back.set_number(row.writes + 1);
        assert_eq!(row.says(&rolled_back), Ending::RolledBack);
        for _ in 0..15 {
            assert_eq!(
                (row.says(&committed), row.says(&rolled_back)),
                (Ending::Committed, Ending::RolledBack)
            );
            row.write();
        }
        assert_eq!((row.says(&committed), row.says(&rolled_back)), (Ending::Committed, Ending::RolledBack));
        row.write();
        assert_eq!(
            (row.says(&committed), row.says(&rolled_back)),
            (Ending::NoLongerKnown, Ending::RolledBack)
        );
        row.write();
        assert_eq!(row.says(&rolled_back), Ending::NoLongerKnown);
        // Data from before both.
        row.writes = 12;
        assert_eq!(row.says(&committed), Ending::RolledBack);
    }
}
