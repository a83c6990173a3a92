//! What an error of MySQL or MariaDB means for a fenced transaction.

use mysql_async::Error;

use crate::fence::FenceError;
use crate::mysql_advice::{advice, is_read_only};

/// A wait that took too long, a deadlock, a row that has changed since it was read, a cluster that disagreed.
const CONFLICTS: [u16; 4] = [1205, 1213, 1020, 3101];

const NO_SUCH_COLUMN: u16 = 1054;

pub(super) fn failure(action: &'static str, error: Error) -> FenceError {
    let advice = match &error {
        Error::Server(said) => match said.code {
            code if CONFLICTS.contains(&code) => {
                return FenceError::Conflict { action, cause: error.into() };
            }
            1146 => "call `create_table` once, or put `leasehold::fence::mysql::SCHEMA` into a migration",
            NO_SUCH_COLUMN => {
                "call `create_table` once, or put `leasehold::fence::mysql::UPGRADE` into a migration"
            }
            code if is_read_only(code) => "this is a replica; connect to the primary server",
            code => advice(code).unwrap_or("the transaction did not happen"),
        },
        _ => "check that the database runs and that the address is right; the transaction did not happen",
    };
    FenceError::Database { action, cause: error.into(), advice }
}

/// As [`failure`], of a statement on a table whose rows have a token of their own.
pub(super) fn row_failure(action: &'static str, error: Error) -> FenceError {
    match error {
        Error::Server(said) if said.code == NO_SUCH_COLUMN => FenceError::Database {
            action,
            cause: Error::Server(said).into(),
            advice: "add the token column with `RowFence::add_column`",
        },
        error => failure(action, error),
    }
}

/// Whether a commit may have happened in spite of this error. Only some say for certain that it has not; a session
/// that is killed says so also in the place of the answer to a commit that is done.
pub(super) fn leaves_open(error: &Error) -> bool {
    !matches!(error, Error::Server(said) if CONFLICTS.contains(&said.code))
}
