//! Fenced writes: the storage has the last word on whether a holder may still write.
//!
//! A *fence row* for each resource remembers the highest token that it has seen, and is never deleted.
//! [`claim`](sqlite::SqliteFence::claim) raises it, *before* the holder reads anything; from then on every
//! transaction of an earlier holder is refused, also on rows that the new holder has not touched. Each
//! transaction then begins with a change of the fence row that fails unless the row still has the holder's token
//! and owner value, and that makes other claims wait until it has ended.
//!
//! The owner value is there for stores that lose their data: such a store may grant a number twice, and an equal
//! token is accepted only from the lease that has claimed with it.
//!
//! Why not only `UPDATE … WHERE last_fencing_token < $token` on the written rows themselves: that refuses the
//! holder's own second write, lets a stale holder write rows that the new one has not written yet, and forgets
//! what it has seen when a row is deleted. It is right where each row is a resource of its own, written once for
//! each lease; see `RowFence`.
//!
//! This module holds what all storages share: the errors and the words. It knows no SQL.

mod mark;
#[cfg(feature = "mysql")]
pub mod mysql;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod receipt;
mod resource;
mod row;
mod schema;
#[cfg(feature = "sqlite")]
pub mod sqlite;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod work;

use std::convert::Infallible;

use thiserror::Error;

use crate::loss::LeaseLost;
use crate::store::Cause;
use crate::token::FencingToken;

#[cfg(any(feature = "postgres", feature = "mysql"))]
pub use receipt::{Ending, Receipt};
pub use resource::{Resource, ResourceError};
pub use row::{RowFence, RowFenceError};
pub use schema::SchemaError;

/// A write was refused because the storage has seen a newer token, or this one from another lease. Nothing was
/// changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}", self.text())]
pub struct StaleToken {
    /// The resource or row that refused.
    pub place: String,
    /// The token that the write came with.
    pub presented: FencingToken,
    /// The highest token that the storage has seen. The same as `presented` when the store of leases has lost its
    /// data and granted a number twice, and the other lease has claimed first.
    pub stored: i64,
}

impl StaleToken {
    fn text(&self) -> String {
        let Self { place, presented, stored } = self;
        if *stored == presented.as_i64() {
            return format!(
                "{place} was claimed by another lease with the same token {stored}: the store of leases has lost \
                 its count and granted the number twice. Nothing was written; acquire again, and the new lease has \
                 a larger token"
            );
        }
        format!(
            "{place} has seen token {stored}, and this write came with {presented}: another holder has taken over, \
             and nothing was written. If this lease is still held, its store has lost its count, which must be set \
             well above {stored}; then acquire again"
        )
    }
}

/// Why a claim or a fenced transaction did not come about. Except for `CommitUnknown`, nothing was changed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FenceError<E = Infallible> {
    /// The storage has seen a newer token, or this one from another lease.
    #[error(transparent)]
    Stale(StaleToken),
    /// The lease ended before the transaction was committed, and it was rolled back.
    #[error(transparent)]
    Lost(LeaseLost),
    /// The caller's own part failed, and the transaction was rolled back.
    // Not as `source`, which would shut out `Box<dyn Error>` and its like; the text has it all.
    #[error("the work in the fenced transaction failed, and was rolled back: {0}")]
    Work(E),
    /// The fence row is gone, or below the token that claimed it.
    #[error("{place} does not know token {presented} any more; fence rows must never be deleted or lowered")]
    Forgotten {
        /// The resource or row.
        place: String,
        /// The token that had claimed it.
        presented: FencingToken,
    },
    /// There is no such row.
    #[error("there is no row {place}; create it before the lease that writes it, with token 0")]
    MissingRow {
        /// The table and key.
        place: String,
    },
    /// The row's token column is `NULL`, which is neither older nor newer than any token.
    #[error(
        "the token of {place} is NULL, and no token is newer than that; set it to 0 and make the column NOT NULL"
    )]
    NullToken {
        /// The table and key.
        place: String,
    },
    /// This token has written the row before. Where that is meant, say so with `claim_row_again`.
    #[error("token {presented} has written {place} before; if it may write it twice, use `claim_row_again`")]
    SameToken {
        /// The table and key.
        place: String,
        /// The token.
        presented: FencingToken,
    },
    /// The commit had no answer, or none that says what became of it. The transaction was either committed as a whole
    /// or not at all; the fence's method `find_out` tells which, and must before you repeat it.
    ///
    /// Not in SQLite, which commits in the process itself.
    #[cfg(any(feature = "postgres", feature = "mysql"))]
    #[error(
        "nobody said what became of the commit under token {presented}, so it may have happened: {cause}; ask the \
         fence's `find_out` before you repeat it"
    )]
    CommitUnknown {
        /// The token of the transaction.
        presented: FencingToken,
        /// With which it can be found out.
        receipt: Receipt,
        /// What the client library said.
        #[source]
        cause: Cause,
    },
    /// The database was busy, or chose this transaction to end a deadlock or a conflict. It may be repeated as
    /// long as the lease is held.
    #[error(
        "the database could not do {action} beside what others do: {cause}; repeat it while the lease is held"
    )]
    Conflict {
        /// What was asked.
        action: &'static str,
        /// What the database said.
        #[source]
        cause: Cause,
    },
    /// The database cannot be reached, or refuses.
    #[error("the database did not do {action}: {cause}; {advice}")]
    Database {
        /// What was asked.
        action: &'static str,
        /// What the database said.
        #[source]
        cause: Cause,
        /// What to do about it.
        advice: &'static str,
    },
}

impl<E> FenceError<E> {
    /// Whether the same transaction may work when it is repeated under the same lease.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Conflict { .. })
    }
}

impl FenceError {
    /// The same error, where the caller's own part can fail too.
    #[must_use]
    pub fn widen<E>(self) -> FenceError<E> {
        match self {
            Self::Stale(stale) => FenceError::Stale(stale),
            Self::Lost(lost) => FenceError::Lost(lost),
            Self::Work(never) => match never {},
            Self::Forgotten { place, presented } => FenceError::Forgotten { place, presented },
            Self::MissingRow { place } => FenceError::MissingRow { place },
            Self::NullToken { place } => FenceError::NullToken { place },
            Self::SameToken { place, presented } => FenceError::SameToken { place, presented },
            #[cfg(any(feature = "postgres", feature = "mysql"))]
            Self::CommitUnknown { presented, receipt, cause } => {
                FenceError::CommitUnknown { presented, receipt, cause }
            }
            Self::Conflict { action, cause } => FenceError::Conflict { action, cause },
            Self::Database { action, cause, advice } => FenceError::Database { action, cause, advice },
        }
    }
}

impl<E> From<LeaseLost> for FenceError<E> {
    fn from(lost: LeaseLost) -> Self {
        Self::Lost(lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_token_says_what_to_do() {
        let presented = FencingToken::try_from(41_i64).unwrap();
        let newer = StaleToken { place: "resource `a`".to_owned(), presented, stored: 42 };
        assert!(newer.to_string().contains("set well above 42"), "{newer}");
        let doubled = StaleToken { stored: 41, ..newer };
        assert!(doubled.to_string().contains("granted the number twice"), "{doubled}");
        assert!(doubled.to_string().contains("acquire again"), "{doubled}");
    }
}
