//! One fenced transaction on one connection.

use std::fmt::Display;

use mysql_async::prelude::ToValue;
use mysql_async::{Error, Params, Row};
use thiserror::Error;

use super::STORED;
use super::connections::Lent;
use super::failure::{failure, is_unanswered};
use crate::fence::row::Taken;
use crate::fence::work::Session;
use crate::fence::{FenceError, Resource, RowFence, verdict};
use crate::mysql_desk::Answer;
use crate::store::Cause;
use crate::tenure::Tenure;
use crate::token::FencingToken;

/// Changes the row, so that other claims and transactions of the resource wait for this one's end.
const ENTER: &str = "\
UPDATE leasehold_fence SET writes = writes + 1 WHERE resource = ? AND last_token = ?";

pub(super) struct MysqlSession {
    transaction: FencedTransaction,
    tenure: Tenure,
    resource: Resource,
}

impl MysqlSession {
    pub(super) fn new(lent: Lent, tenure: Tenure, resource: Resource) -> Self {
        let token = tenure.token();
        Self { transaction: FencedTransaction { lent, token, failed: false }, tenure, resource }
    }

    pub(super) fn transaction(&mut self) -> &mut FencedTransaction {
        &mut self.transaction
    }
}

impl Session for MysqlSession {
    async fn begin(&mut self) -> Result<(), FenceError> {
        const ACTION: &str = "beginning a transaction";
        let lent = &self.transaction.lent;
        lent.desk().ask("START TRANSACTION", ()).await.map_err(|error| failure(ACTION, error))?;
        let (name, token) = (self.resource.as_str(), self.tenure.token());
        let entered = lent.desk().ask(ENTER, (name, token.as_i64())).await;
        if entered.map_err(|error| failure(ACTION, error))?.found == 1 {
            return Ok(());
        }
        let stored = lent.stored(STORED, name).await.map_err(|error| failure(ACTION, error))?;
        Err(verdict(self.resource.to_string(), token, stored.flatten()))
    }

    async fn commit(&mut self) -> Result<(), FenceError> {
        const ACTION: &str = "a commit";
        if self.transaction.failed {
            let advice = "the transaction did not happen";
            let cause = self.rollback().await.err().unwrap_or_else(|| AlreadyFailed.into());
            return Err(FenceError::Database { action: ACTION, cause, advice });
        }
        let presented = self.tenure.token();
        match self.transaction.lent.desk().ask("COMMIT", ()).await {
            Ok(_) => Ok(()),
            Err(error) if is_unanswered(&error) => {
                Err(FenceError::CommitUnknown { presented, cause: error.into() })
            }
            Err(error) => Err(failure(ACTION, error)),
        }
    }

    async fn rollback(&mut self) -> Result<(), Cause> {
        self.transaction.lent.desk().ask("ROLLBACK", ()).await.map(|_| ()).map_err(Cause::from)
    }

    fn give_back(self) {
        self.transaction.lent.give_back();
    }
}

/// What the work in a fenced transaction may do: run statements. It is begun and ended around the work, which
/// must not do so itself; nor may it run what commits by itself, such as `CREATE TABLE`.
///
/// After a statement that failed, or whose future was dropped, the transaction can only be rolled back, as in
/// PostgreSQL: MySQL itself would go on, after a deadlock even without the transaction and its fence.
pub struct FencedTransaction {
    lent: Lent,
    token: FencingToken,
    failed: bool,
}

/// Why later statements are refused, and the commit.
#[derive(Debug, Error)]
#[error("a statement of this transaction has failed or was dropped before, so it can only be rolled back")]
struct AlreadyFailed;

impl FencedTransaction {
    /// The token under which this transaction runs.
    #[must_use]
    pub fn token(&self) -> FencingToken {
        self.token
    }

    /// Runs a statement and gives the number of rows that it found, also those that already were as it would have
    /// made them.
    ///
    /// # Errors
    /// The client's own.
    pub async fn execute(&mut self, statement: &str, values: impl Into<Params>) -> Result<u64, Error> {
        self.run(statement, values).await.map(|answer| answer.found)
    }

    /// Runs a query and gives its rows.
    ///
    /// # Errors
    /// The client's own.
    pub async fn query(&mut self, statement: &str, values: impl Into<Params>) -> Result<Vec<Row>, Error> {
        self.run(statement, values).await.map(|answer| answer.rows)
    }

    /// Runs a query and gives its first row, if there is one.
    ///
    /// # Errors
    /// The client's own.
    pub async fn query_first(
        &mut self,
        statement: &str,
        values: impl Into<Params>,
    ) -> Result<Option<Row>, Error> {
        self.run(statement, values).await.map(|answer| answer.rows.into_iter().next())
    }

    /// Takes a row for this token, which must be newer than the row's own. After it, and in the same
    /// transaction, the row may be changed at will: it is locked.
    ///
    /// # Errors
    /// [`FenceError::Stale`] when the row has a newer token, [`FenceError::SameToken`] when it has this one,
    /// [`FenceError::MissingRow`] and [`FenceError::NullToken`] as they say.
    pub async fn claim_row<K: ToValue + Display>(
        &mut self,
        rows: &RowFence,
        key: &K,
    ) -> Result<(), FenceError> {
        self.take_row(rows, key).await?.once(|| rows.place(&key.to_string()), self.token)
    }

    /// As [`claim_row`](FencedTransaction::claim_row), and also when this very token has taken the row before:
    /// for a lease that writes a row more than once.
    ///
    /// # Errors
    /// As [`claim_row`](FencedTransaction::claim_row), without `SameToken`.
    pub async fn claim_row_again<K: ToValue + Display>(
        &mut self,
        rows: &RowFence,
        key: &K,
    ) -> Result<(), FenceError> {
        self.take_row(rows, key).await.map(|_| ())
    }

    async fn take_row<K: ToValue + Display>(
        &mut self,
        rows: &RowFence,
        key: &K,
    ) -> Result<Taken, FenceError> {
        const ACTION: &str = "taking a row";
        let (number, place) = (self.token.as_i64(), rows.place(&key.to_string()));
        let values = vec![number.to_value(), key.to_value(), number.to_value()];
        let advanced = self.run(&rows.advance(["?", "?"]), values).await;
        if advanced.map_err(|error| failure(ACTION, error))?.found > 0 {
            return Ok(Taken::Now);
        }
        let found = self.run(&rows.stored("?", " FOR UPDATE"), vec![key.to_value()]).await;
        let found = found.map_err(|error| failure(ACTION, error))?;
        let stored = found.rows.first().map(|row| row.get::<Option<i64>, _>(0).flatten());
        Taken::refused(place, self.token, stored)
    }

    /// Once it has failed it stays so, also when the future of a statement is dropped: what became of that
    /// statement nobody knows.
    async fn run(&mut self, statement: &str, values: impl Into<Params>) -> Result<Answer, Error> {
        if self.failed {
            return Err(Error::Other(AlreadyFailed.into()));
        }
        self.failed = true;
        let answer = self.lent.desk().ask(statement.to_owned(), values).await?;
        self.failed = false;
        Ok(answer)
    }
}
