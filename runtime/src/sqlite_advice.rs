//! What to do about an error of SQLite that is about the file, whoever uses it. What it means for a lease or a
//! transaction is theirs to say.

use rusqlite::ErrorCode;

/// `None` when the error is not about the file.
pub(crate) fn advice(code: Option<ErrorCode>) -> Option<&'static str> {
    match code? {
        ErrorCode::CannotOpen => Some("check the path and that its folder exists and may be written to"),
        ErrorCode::ReadOnly => Some("the file or its folder may not be written to"),
        ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt => {
            Some("the file is not an SQLite database; give another path")
        }
        _ => None,
    }
}
