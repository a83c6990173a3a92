//! What an error of MySQL or MariaDB means for a lease.

use mysql_async::Error;

use super::NAME;
use crate::mysql_advice::{advice, is_read_only};
use crate::store::StoreError;

pub(super) fn failure(action: &'static str, error: Error) -> StoreError {
    let Error::Server(said) = &error else {
        return StoreError::Unreachable { store: NAME, action, cause: error.into() };
    };
    let advice = match said.code {
        // A sum that does not fit its type; the only sum there is is the next token.
        1690 => return StoreError::TokensExhausted { store: NAME },
        1146 => Some("call `create_table` once, or put `leasehold::store::mysql::SCHEMA` into a migration"),
        1054 | 1264 | 1364 | 1366 | 1406 => {
            Some("the table must be as `leasehold::store::mysql::SCHEMA` makes it")
        }
        code => advice(code),
    };
    match advice {
        Some(advice) => StoreError::Refused { store: NAME, action, cause: error.into(), advice },
        None => StoreError::Unready { store: NAME, action, cause: error.into() },
    }
}

/// After a failover the address may lead to another server, so a read-only answer ends the connection too.
pub(super) fn breaks_connection(error: &Error) -> bool {
    match error {
        Error::Server(said) => is_read_only(said.code),
        _ => true,
    }
}

pub(super) fn is_duplicate(error: &Error) -> bool {
    matches!(error, Error::Server(said) if said.code == 1062)
}

pub(super) fn unintelligible(action: &'static str, answer: impl ToString) -> StoreError {
    StoreError::Unintelligible { store: NAME, action, answer: answer.to_string() }
}
