//! Fencing by a token column of the written rows themselves: its statements for one table. Runs nothing.

use thiserror::Error;

use super::{FenceError, StaleToken};
use crate::token::FencingToken;

/// A table whose rows each remember the last token that wrote them.
///
/// Each row is fenced by itself: a stale holder can still write a row that the new holder has not written, and a
/// row that was deleted has forgotten its token. It also knows the number alone, and not whose it is: after a loss
/// of data in the store of leases, two leases with the same number are one to it. Where rows belong together, or
/// the store can lose its data, claim one resource for all who write them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowFence {
    table: String,
    key: String,
    token: String,
}

impl RowFence {
    /// Rows of `table`, found by their column `key`, with the token in the column `token`. The table's name may
    /// have a schema's in front, with a dot.
    ///
    /// # Errors
    /// [`RowFenceError`] when a name is not one that SQL knows without quotes; so no text from outside can
    /// become part of a statement.
    pub fn new(table: &str, key: &str, token: &str) -> Result<Self, RowFenceError> {
        let parts = table.split('.').chain([key, token]);
        for name in parts {
            let first = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
            if !first || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') || name.len() > 63 {
                return Err(RowFenceError { name: name.chars().take(80).collect() });
            }
        }
        Ok(Self { table: table.to_owned(), key: key.to_owned(), token: token.to_owned() })
    }

    /// The statement that adds the token column, for a migration: `NOT NULL`, so that every comparison has an
    /// answer, and from 0, below every token. The fences' `verify` tells whether it is there and as it must be.
    #[must_use]
    pub fn add_column(&self) -> String {
        format!("ALTER TABLE {} ADD COLUMN {} BIGINT NOT NULL DEFAULT 0", self.table, self.token)
    }

    /// The table's name.
    pub(crate) fn table(&self) -> &str {
        &self.table
    }

    /// The token column's name.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// How errors name a row.
    pub(crate) fn place(&self, key: &str) -> String {
        format!("{} with {} = {key}", self.table, self.key)
    }

    /// Parameters: token, key.
    pub(crate) fn advance(&self, parameters: [&str; 2]) -> String {
        let [token, key] = parameters;
        let Self { table, key: column, token: own } = self;
        format!("UPDATE {table} SET {own} = {token} WHERE {column} = {key} AND {own} < {token}")
    }

    /// Parameter: key. With the lock that keeps the answer true until the transaction ends.
    pub(crate) fn stored(&self, parameter: &str, lock: &str) -> String {
        format!("SELECT {} FROM {} WHERE {} = {parameter}{lock}", self.token, self.table, self.key)
    }
}

/// What became of a row that was to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It has the token now.
    Now,
    /// It had the token before.
    Before,
}

impl Taken {
    /// For a row that did not take the token, and of which this is `stored`; `None` when there is no row, or no
    /// token in it.
    pub(crate) fn refused(
        place: String,
        presented: FencingToken,
        stored: Option<Option<i64>>,
    ) -> Result<Self, FenceError> {
        match stored {
            None => Err(FenceError::MissingRow { place }),
            Some(None) => Err(FenceError::NullToken { place }),
            Some(Some(stored)) if stored == presented.as_i64() => Ok(Self::Before),
            Some(Some(stored)) if stored > presented.as_i64() => {
                Err(FenceError::Stale(StaleToken { place, presented, stored }))
            }
            Some(Some(_)) => Err(FenceError::Forgotten { place, presented }),
        }
    }

    /// For a token that may take each row once.
    pub(crate) fn once(
        self,
        place: impl FnOnce() -> String,
        presented: FencingToken,
    ) -> Result<(), FenceError> {
        match self {
            Self::Now => Ok(()),
            Self::Before => Err(FenceError::SameToken { place: place(), presented }),
        }
    }
}

/// A name that cannot stand in a statement as it is.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{}` cannot name a table or column here; use letters, digits and underscores, at most 63", name.escape_debug()
)]
pub struct RowFenceError {
    name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_carry_statements() {
        for bad in ["", "a b", "a;drop", "\"a\"", "1a", "a.b.", "ä"] {
            assert!(RowFence::new(bad, "id", "token").is_err(), "{bad}");
            assert!(RowFence::new("t", bad, "token").is_err(), "{bad}");
        }
        let row = RowFence::new("public.accounts", "id", "last_fencing_token").unwrap();
        assert_eq!(
            row.advance(["$1", "$2"]),
            "UPDATE public.accounts SET last_fencing_token = $1 WHERE id = $2 AND last_fencing_token < $1"
        );
    }
}
