//! What an error of SQLite means for a fenced transaction.

use rusqlite::{Error, ErrorCode};

use crate::fence::FenceError;
use crate::sqlite_advice::advice;
use crate::sqlite_desk::DeskClosed;

pub(super) fn failure(action: &'static str, error: Error) -> FenceError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            FenceError::Conflict { action, cause: error.into() }
        }
        code => FenceError::Database {
            action,
            cause: error.into(),
            advice: advice(code).unwrap_or("the transaction did not happen"),
        },
    }
}

pub(super) fn closed(closed: DeskClosed) -> FenceError {
    FenceError::Database {
        action: "a fenced transaction",
        cause: closed.into(),
        advice: "the work in a transaction must not panic",
    }
}
