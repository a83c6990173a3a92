//! What an error of SQLite means for a fenced transaction.

use rusqlite::{Error, ErrorCode};

use crate::fence::FenceError;
use crate::sqlite_desk::DeskClosed;

pub(super) fn failure(action: &'static str, error: Error) -> FenceError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            FenceError::Conflict { action, cause: error.into() }
        }
        code => FenceError::Database { action, cause: error.into(), advice: advice(code) },
    }
}

pub(super) fn closed(closed: DeskClosed) -> FenceError {
    FenceError::Database {
        action: "a fenced transaction",
        cause: closed.into(),
        advice: "the work in a transaction must not panic",
    }
}

fn advice(code: Option<ErrorCode>) -> &'static str {
    match code {
        Some(ErrorCode::CannotOpen) => "check the path and that its folder exists and may be written to",
        Some(ErrorCode::ReadOnly) => "the file or its folder may not be written to",
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            "the file is not an SQLite database; give another path"
        }
        _ => "the transaction did not happen",
    }
}
