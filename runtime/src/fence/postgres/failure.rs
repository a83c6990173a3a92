//! What an error of PostgreSQL means for a fenced transaction.

use tokio_postgres::Error;
use tokio_postgres::error::{Severity, SqlState};

use crate::fence::FenceError;
use crate::store::Cause;

pub(super) fn failure(action: &'static str, error: Error) -> FenceError {
    let state = error.code().cloned();
    let conflict =
        [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED, SqlState::LOCK_NOT_AVAILABLE];
    let cause = whole(error);
    match state {
        Some(state) if conflict.contains(&state) => FenceError::Conflict { action, cause },
        Some(state) => FenceError::Database { action, cause, advice: advice(&state) },
        None => FenceError::Database {
            action,
            cause,
            advice: "check that the database runs; the transaction did not happen",
        },
    }
}

/// As [`failure`], of a statement on a table whose rows have a token of their own.
pub(super) fn row_failure(action: &'static str, error: Error) -> FenceError {
    if error.code() != Some(&SqlState::UNDEFINED_COLUMN) {
        return failure(action, error);
    }
    FenceError::Database {
        action,
        cause: whole(error),
        advice: "add the token column with `RowFence::add_column`",
    }
}

/// Whether a commit may have happened in spite of this error. A session that ends says so in its last words, also
/// in the place of the answer to a commit that is done.
pub(super) fn leaves_open(error: &Error) -> bool {
    error.as_db_error().is_none_or(|said| said.parsed_severity() != Some(Severity::Error))
}

fn advice(state: &SqlState) -> &'static str {
    if *state == SqlState::UNDEFINED_TABLE {
        return "call `create_table` once, or put `leasehold::fence::postgres::SCHEMA` into a migration";
    }
    if *state == SqlState::READ_ONLY_SQL_TRANSACTION {
        return "this is a replica; connect to the primary server";
    }
    if *state == SqlState::UNDEFINED_COLUMN {
        return "call `create_table` once, or put `leasehold::fence::postgres::UPGRADE` into a migration";
    }
    match state.code().get(..2) {
        Some("28") => "check user and password in the address, and the server's pg_hba.conf",
        Some("42") => "the user must be allowed to SELECT, INSERT and UPDATE the tables",
        _ => "the transaction did not happen",
    }
}

/// The client's own text leaves out what the server said.
pub(super) fn whole(error: Error) -> Cause {
    match error.as_db_error() {
        Some(said) => said.to_string().into(),
        None => error.into(),
    }
}
