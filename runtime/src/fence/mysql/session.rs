//! One fenced transaction on one connection.

use std::fmt::Display;

use mysql_async::prelude::ToValue;
use mysql_async::{Error, Params, Row};
use thiserror::Error;

use super::connections::Lent;
use super::failure::{failure, leaves_open, row_failure};
use super::stored;
use crate::fence::mark::refused;
use crate::fence::row::Taken;
use crate::fence::work::Session;
use crate::fence::{FenceError, Receipt, RowFence};
use crate::mysql_desk::Answer;
use crate::store::Cause;
use crate::tenure::Tenure;
use crate::token::FencingToken;

/// Changes the row, so that other claims and transactions of the resource wait for this one's end. The count comes
/// back in the answer to the very statement that raises it.
const ENTER: &str = "\
UPDATE leasehold_fence SET writes = LAST_INSERT_ID(writes + 1), recent = LEFT(CONCAT(?, recent), 128)
WHERE resource = ? AND last_token = ? AND holder = ?";

pub(super) struct MysqlSession {
    transaction: FencedTransaction,
    tenure: Tenure,
    receipt: Receipt,
}

impl MysqlSession {
    pub(super) fn new(lent: Lent, tenure: Tenure, receipt: Receipt) -> Self {
        let token = tenure.token();
        Self { transaction: FencedTransaction { lent, token, failed: false }, tenure, receipt }
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
        let (token, owner) = (self.tenure.token().as_i64(), self.tenure.owner());
        let resource = self.receipt.resource();
        let values = (self.receipt.id(), resource.as_str(), token, owner.as_bytes().as_slice());
        let entered = lent.desk().ask(ENTER, values).await.map_err(|error| failure(ACTION, error))?;
        if entered.found == 1 {
            let number = entered.last_id.and_then(|number| i64::try_from(number).ok());
            self.receipt.set_number(number.unwrap_or(0));
            return Ok(());
        }
        let mark = stored(lent, resource).await.map_err(|error| failure(ACTION, error))?;
        Err(refused(mark.as_ref(), &self.tenure, resource))
    }

    async fn commit(&mut self) -> Result<(), FenceError> {
        const ACTION: &str = "a commit";
        if self.transaction.failed {
            let (cause, advice) = (AlreadyFailed.into(), "the transaction did not happen");
            return Err(FenceError::Database { action: ACTION, cause, advice });
        }
        match self.transaction.lent.desk().ask("COMMIT", ()).await {
            Ok(_) => Ok(()),
            Err(error) if leaves_open(&error) => Err(self.unknown(error.into())),
            Err(error) => Err(failure(ACTION, error)),
        }
    }

    fn unknown(&self, cause: Cause) -> FenceError {
        let (presented, receipt) = (self.tenure.token(), self.receipt.clone());
        FenceError::CommitUnknown { presented, receipt, cause }
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
        if advanced.map_err(|error| row_failure(ACTION, error))?.found > 0 {
            return Ok(Taken::Now);
        }
        let found = self.run(&rows.stored("?", " FOR UPDATE"), vec![key.to_value()]).await;
        let found = found.map_err(|error| row_failure(ACTION, error))?;
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
