//! What an error of PostgreSQL means for a lease.

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use super::NAME;
use crate::store::StoreError;

pub(super) fn failure(action: &'static str, error: Error) -> StoreError {
    let Some(state) = error.code().cloned() else {
        return StoreError::Unreachable { store: NAME, action, cause: whole(error) };
    };
    if state == SqlState::NUMERIC_VALUE_OUT_OF_RANGE {
        return StoreError::TokensExhausted { store: NAME };
    }
    match advice(&state) {
        Some(advice) => StoreError::Refused { store: NAME, action, cause: whole(error), advice },
        None => StoreError::Unready { store: NAME, action, cause: whole(error) },
    }
}

/// After a failover the address may lead to another server, so a read-only answer ends the connection too.
pub(super) fn breaks_connection(error: &Error) -> bool {
    error.code().is_none_or(|state| *state == SqlState::READ_ONLY_SQL_TRANSACTION)
}

pub(super) fn unintelligible(action: &'static str, answer: impl ToString) -> StoreError {
    StoreError::Unintelligible { store: NAME, action, answer: answer.to_string() }
}

/// What to do about a refusal; `None` for what may pass by itself.
fn advice(state: &SqlState) -> Option<&'static str> {
    if *state == SqlState::UNDEFINED_TABLE {
        return Some(
            "call `create_table` once, or put `leasehold::store::postgres::SCHEMA` into a migration",
        );
    }
    match state.code().get(..2)? {
        "28" => Some("check user and password in the address, and the server's pg_hba.conf"),
        "3D" => Some("create the database, or name another one in the address"),
        "42" | "22" => Some(
            "the table must be as `leasehold::store::postgres::SCHEMA` makes it, and the user may SELECT, INSERT and UPDATE it",
        ),
        "23" => Some("the table must be as `leasehold::store::postgres::SCHEMA` makes it"),
        _ => None,
    }
}

/// The client's own text leaves out what the server said.
fn whole(error: Error) -> crate::store::Cause {
    match error.as_db_error() {
        Some(said) => said.to_string().into(),
        None => error.into(),
    }
}
