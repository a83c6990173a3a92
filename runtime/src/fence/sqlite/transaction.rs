//! What the work in a fenced transaction may do.

use std::fmt::Display;
use std::ops::Deref;

use rusqlite::{Connection, OptionalExtension, ToSql, Transaction, params};

use super::failure::failure;
use crate::fence::row::Taken;
use crate::fence::{FenceError, RowFence};
use crate::token::FencingToken;

/// A transaction that was let through by the fence. Everything of the connection may be used in it, but not
/// `BEGIN`, `COMMIT` or `ROLLBACK`: it is ended around the work.
#[derive(Debug)]
pub struct FencedTransaction<'a> {
    transaction: Transaction<'a>,
    token: FencingToken,
}

impl<'a> FencedTransaction<'a> {
    pub(super) fn new(transaction: Transaction<'a>, token: FencingToken) -> Self {
        Self { transaction, token }
    }

    pub(super) fn commit(self) -> rusqlite::Result<()> {
        self.transaction.commit()
    }

    /// The token under which this transaction runs.
    #[must_use]
    pub fn token(&self) -> FencingToken {
        self.token
    }

    /// Takes a row for this token, which must be newer than the row's own. After it, and in the same
    /// transaction, the row may be changed at will.
    ///
    /// # Errors
    /// [`FenceError::Stale`] when the row has a newer token, [`FenceError::SameToken`] when it has this one,
    /// [`FenceError::MissingRow`] and [`FenceError::NullToken`] as they say.
    pub fn claim_row<K: ToSql + Display>(&self, rows: &RowFence, key: &K) -> Result<(), FenceError> {
        self.take_row(rows, key)?.once(|| rows.place(&key.to_string()), self.token)
    }

    /// As [`claim_row`](FencedTransaction::claim_row), and also when this very token has taken the row before:
    /// for a lease that writes a row more than once.
    ///
    /// # Errors
    /// As [`claim_row`](FencedTransaction::claim_row), without `SameToken`.
    pub fn claim_row_again<K: ToSql + Display>(&self, rows: &RowFence, key: &K) -> Result<(), FenceError> {
        self.take_row(rows, key).map(|_| ())
    }

    fn take_row<K: ToSql + Display>(&self, rows: &RowFence, key: &K) -> Result<Taken, FenceError> {
        const ACTION: &str = "taking a row";
        let token = self.token.as_i64();
        let advanced = self
            .transaction
            .execute(&rows.advance(["?1", "?2"]), params![token, key])
            .map_err(|error| failure(ACTION, error))?;
        if advanced > 0 {
            return Ok(Taken::Now);
        }
        let place = rows.place(&key.to_string());
        let stored = self
            .transaction
            .query_row(&rows.stored("?1", ""), [key], |row| row.get::<_, Option<i64>>(0))
            .optional()
            .map_err(|error| failure(ACTION, error))?;
        Taken::refused(place, self.token, stored)
    }
}

impl Deref for FencedTransaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.transaction
    }
}
