//! What to do about an error of MySQL or MariaDB that is about the connection or the user's rights, whoever asks.
//! What it means for a lease or a transaction is theirs to say.

/// By the server's error number; `None` when the error is about something else.
pub(crate) fn advice(code: u16) -> Option<&'static str> {
    match code {
        1045 | 1698 | 1862 => Some("check user and password in the address"),
        1044 | 1142 | 1143 => Some("the user must be allowed to SELECT, INSERT and UPDATE the tables"),
        1046 | 1049 => Some("create the database, or name another one in the address"),
        _ => None,
    }
}

/// Whether the server only reads: it is a replica, or was made read-only for a switch to another one.
pub(crate) fn is_read_only(code: u16) -> bool {
    matches!(code, 1290 | 1792 | 1836)
}
