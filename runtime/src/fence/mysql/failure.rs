//! What an error of MySQL or MariaDB means for a fenced transaction.

use mysql_async::Error;

use crate::fence::FenceError;
use crate::mysql_advice::{advice, is_read_only};

pub(super) fn failure(action: &'static str, error: Error) -> FenceError {
    let advice = match &error {
        Error::Server(said) => match said.code {
            // A wait that took too long, a deadlock, a row that has changed since it was read.
            1205 | 1213 | 1020 => return FenceError::Conflict { action, cause: error.into() },
            1146 => "call `create_table` once, or put `leasehold::fence::mysql::SCHEMA` into a migration",
            1054 => "add the token column with `RowFence::add_column`",
            code if is_read_only(code) => "this is a replica; connect to the primary server",
            code => advice(code).unwrap_or("the transaction did not happen"),
        },
        _ => "check that the database runs and that the address is right; the transaction did not happen",
    };
    FenceError::Database { action, cause: error.into(), advice }
}

/// Whether the server has said nothing: then a commit may have happened.
pub(super) fn is_unanswered(error: &Error) -> bool {
    !matches!(error, Error::Server(_))
}
