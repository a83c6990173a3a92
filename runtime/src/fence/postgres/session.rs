//! One fenced transaction on one connection.

use std::time::Duration;

use futures_util::future::join;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Error, Row};

use super::connections::{Connections, Lent};
use super::failure::{failure, leaves_open, row_failure, whole};
use super::stored;
use crate::fence::mark::refused;
use crate::fence::row::Taken;
use crate::fence::work::Session;
use crate::fence::{FenceError, Receipt, RowFence};
use crate::store::Cause;
use crate::tenure::Tenure;
use crate::token::FencingToken;

/// Changes the row, so that other claims and transactions of the resource wait for this one's end.
const ENTER: &str = "\
UPDATE leasehold_fence SET writes = writes + 1, recent = substr($4 || recent, 1, 128)
WHERE resource = $1 AND last_token = $2 AND holder = $3
RETURNING writes";

/// After an error in the transaction, `COMMIT` alone rolls back and calls that a success; another statement before
/// it does not get through. Work that has swallowed an error must not look as if it had been committed.
const COMMIT: &str = "SELECT 1; COMMIT";

pub(super) struct PostgresSession<C: Connections> {
    transaction: FencedTransaction<C>,
    tenure: Tenure,
    receipt: Receipt,
}

impl<C: Connections> PostgresSession<C> {
    pub(super) fn new(lent: Lent<C>, tenure: Tenure, receipt: Receipt) -> Self {
        let token = tenure.token();
        Self { transaction: FencedTransaction { lent, token }, tenure, receipt }
    }

    pub(super) fn transaction(&mut self) -> &mut FencedTransaction<C> {
        &mut self.transaction
    }
}

impl<C: Connections> Session for PostgresSession<C> {
    async fn begin(&mut self) -> Result<(), FenceError> {
        const ACTION: &str = "beginning a transaction";
        let client = self.transaction.lent.client();
        // A process that stops inside the transaction must not keep others out for longer than its lease.
        let limit = milliseconds(self.tenure.claim().ttl);
        let begin = format!(
            "BEGIN; SET LOCAL idle_in_transaction_session_timeout = {limit}; SET LOCAL lock_timeout = {limit}"
        );
        let (token, owner) = (self.tenure.token().as_i64(), self.tenure.owner());
        let (name, owner) = (self.receipt.resource().as_str(), owner.as_bytes().as_slice());
        let id = self.receipt.id();
        let values: [(&(dyn ToSql + Sync), Type); 4] =
            [(&name, Type::TEXT), (&token, Type::INT8), (&owner, Type::BYTEA), (&id, Type::BYTEA)];
        // In one round trip: both are sent before the first answer. `join` polls in this order, and a request is
        // sent when it is first polled.
        let (begun, entered) =
            join(client.batch_execute(&begin), client.query_typed_opt(ENTER, &values)).await;
        begun.map_err(|error| failure(ACTION, error))?;
        if let Some(row) = entered.map_err(|error| failure(ACTION, error))? {
            let number = row.try_get(0).map_err(|error| failure(ACTION, error))?;
            self.receipt.set_number(number);
            return Ok(());
        }
        let resource = self.receipt.resource();
        let mark = stored(client, resource).await.map_err(|error| failure(ACTION, error))?;
        Err(refused(mark.as_ref(), &self.tenure, resource))
    }

    async fn commit(&mut self) -> Result<(), FenceError> {
        self.transaction.lent.client().batch_execute(COMMIT).await.map_err(|error| {
            if leaves_open(&error) { self.unknown(whole(error)) } else { failure("a commit", error) }
        })
    }

    fn unknown(&self, cause: Cause) -> FenceError {
        let (presented, receipt) = (self.tenure.token(), self.receipt.clone());
        FenceError::CommitUnknown { presented, receipt, cause }
    }

    async fn rollback(&mut self) -> Result<(), Cause> {
        self.transaction.lent.client().batch_execute("ROLLBACK").await.map_err(Cause::from)
    }

    fn give_back(self) {
        self.transaction.lent.give_back();
    }
}

fn milliseconds(ttl: Duration) -> i32 {
    i32::try_from(ttl.as_millis()).unwrap_or(i32::MAX).max(1)
}

/// What the work in a fenced transaction may do: run statements. It is begun and ended around the work, which
/// must not do so itself.
pub struct FencedTransaction<C: Connections> {
    lent: Lent<C>,
    token: FencingToken,
}

impl<C: Connections> FencedTransaction<C> {
    /// The token under which this transaction runs.
    #[must_use]
    pub fn token(&self) -> FencingToken {
        self.token
    }

    /// Runs a statement and gives the number of rows that it changed.
    ///
    /// # Errors
    /// The client's own.
    pub async fn execute(&mut self, statement: &str, values: &[&(dyn ToSql + Sync)]) -> Result<u64, Error> {
        self.lent.client().execute(statement, values).await
    }

    /// Runs a query and gives its rows.
    ///
    /// # Errors
    /// The client's own.
    pub async fn query(
        &mut self,
        statement: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        self.lent.client().query(statement, values).await
    }

    /// Runs a query that gives exactly one row.
    ///
    /// # Errors
    /// The client's own, also when there are none or several.
    pub async fn query_one(&mut self, statement: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Row, Error> {
        self.lent.client().query_one(statement, values).await
    }

    /// Runs a query that gives one row or none.
    ///
    /// # Errors
    /// The client's own, also when there are several.
    pub async fn query_opt(
        &mut self,
        statement: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Option<Row>, Error> {
        self.lent.client().query_opt(statement, values).await
    }

    /// Takes a row for this token, which must be newer than the row's own. After it, and in the same
    /// transaction, the row may be changed at will: it is locked.
    ///
    /// # Errors
    /// [`FenceError::Stale`] when the row has a newer token, [`FenceError::SameToken`] when it has this one,
    /// [`FenceError::MissingRow`] and [`FenceError::NullToken`] as they say.
    pub async fn claim_row<K: ToSql + Sync + std::fmt::Display>(
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
    pub async fn claim_row_again<K: ToSql + Sync + std::fmt::Display>(
        &mut self,
        rows: &RowFence,
        key: &K,
    ) -> Result<(), FenceError> {
        self.take_row(rows, key).await.map(|_| ())
    }

    async fn take_row<K: ToSql + Sync + std::fmt::Display>(
        &mut self,
        rows: &RowFence,
        key: &K,
    ) -> Result<Taken, FenceError> {
        const ACTION: &str = "taking a row";
        let client = self.lent.client();
        let token = self.token.as_i64();
        let advanced = client
            .execute(&rows.advance(["$1", "$2"]), &[&token, key])
            .await
            .map_err(|error| row_failure(ACTION, error))?;
        if advanced > 0 {
            return Ok(Taken::Now);
        }
        let place = rows.place(&key.to_string());
        let row = client.query_opt(&rows.stored("$1", " FOR UPDATE"), &[key]).await;
        let stored = row
            .and_then(|row| row.map(|row| row.try_get(0)).transpose())
            .map_err(|error| row_failure(ACTION, error))?;
        Taken::refused(place, self.token, stored)
    }
}
