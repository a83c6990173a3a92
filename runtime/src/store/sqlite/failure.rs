//! What an error of SQLite means for a lease.

use rusqlite::{Error, ErrorCode, ffi};

use super::NAME;
use crate::store::StoreError;

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
            let advice = advice(code.map(|(code, _)| code));
            StoreError::Refused { store: NAME, action, advice, cause: error.into() }
        }
    }
}

fn advice(code: Option<ErrorCode>) -> &'static str {
    match code {
        Some(ErrorCode::CannotOpen) => "check the path and that its folder exists and may be written to",
        Some(ErrorCode::ReadOnly) => "the file or its folder may not be written to",
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            "the file is not an SQLite database; give another path"
        }
        _ => "the table `leasehold_lease` must be as `leasehold::store::sqlite::SCHEMA` makes it",
    }
}
