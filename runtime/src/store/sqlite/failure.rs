//! What an error of SQLite means for a lease.

use rusqlite::{Error, ErrorCode, ffi};

use super::NAME;
use crate::sqlite_advice::advice;
use crate::store::StoreError;

const TABLE: &str = "the table `leasehold_lease` must be as `leasehold::store::sqlite::SCHEMA` makes it";

pub(super) fn failure(action: &'static str, error: Error) -> StoreError {
    let code = error.sqlite_error().map(|detail| (detail.code, detail.extended_code));
    match code {
        // One more than the last integer is a real number, which the column refuses.
        Some((_, ffi::SQLITE_CONSTRAINT_DATATYPE)) => StoreError::TokensExhausted { store: NAME },
        Some((ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::DiskFull, _)) => {
            StoreError::Unready { store: NAME, action, cause: error.into() }
        }
        Some((ErrorCode::SystemIoFailure, _)) => {
            StoreError::Unreachable { store: NAME, action, cause: error.into() }
        }
        _ => {
            let advice = advice(code.map(|(code, _)| code)).unwrap_or(TABLE);
            StoreError::Refused { store: NAME, action, advice, cause: error.into() }
        }
    }
}
