//! What a statement's text does to a lock of its session, and which client's dialect a file speaks.
//!
//! The functions are the databases' own, so their names are enough; no grammar is needed.

use super::super::trace::SqlCall;
use super::statement_texts::assembled;
use crate::facts::sql::Dialect;
use crate::locks::TransactionScope;
use crate::locks::statement::{SessionAct, SessionLock};

/// What a text leaves behind in its session, whether or not it is understood.
pub(super) fn note_text(scope: &mut TransactionScope, text: &str) {
    scope.advisory_lock |= session_lock(text).is_some_and(|lock| lock.act != SessionAct::Release);
    // SQLite has one writer at a time, and this makes the transaction that one from its start.
    let starts = text.trim_start().to_ascii_lowercase();
    scope.advisory_lock |=
        ["begin immediate", "begin exclusive"].iter().any(|begin| starts.starts_with(begin));
}

pub(super) fn session_lock(text: &str) -> Option<SessionLock> {
    let lower = text.to_ascii_lowercase();
    let has = |part: &str| lower.contains(part);
    let takes_too = has("advisory_lock(") || calls(&lower, "get_lock(");
    let frees = has("advisory_unlock")
        || calls(&lower, "release_lock(")
        || calls(&lower, "release_all_locks(")
        || lower.trim().trim_end_matches(';') == "discard all";
    let for_transaction = has("_xact_lock");
    let act = if frees {
        // In one statement, both meet the same session.
        return (!takes_too).then_some(SessionLock { act: SessionAct::Release, for_transaction });
    } else if has("pg_try_advisory") || calls(&lower, "get_lock(") {
        SessionAct::Try
    } else if has("pg_advisory_") {
        SessionAct::Take
    } else {
        return None;
    };
    Some(SessionLock { act, for_transaction })
}

/// The database's own function, and not one whose name ends so.
fn calls(text: &str, function: &str) -> bool {
    text.match_indices(function)
        .any(|(at, _)| !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.'))
}

/// The lock that a call takes or frees, by all of its text.
pub(super) fn session_lock_of(call: &SqlCall) -> Option<SessionLock> {
    session_lock(&assembled(&call.text)?.value)
}

/// The dialect of the client that a file imports, when it imports one alone.
pub(super) fn imported_dialect(uses: &[crate::facts::rust::Use]) -> Option<Dialect> {
    let of = |import: &crate::facts::rust::Use| match import.path.first()?.as_str() {
        "rusqlite" | "tokio_rusqlite" | "libsql" => Some(Dialect::Sqlite),
        "mysql" | "mysql_async" => Some(Dialect::MySql),
        "postgres" | "tokio_postgres" | "deadpool_postgres" => Some(Dialect::Postgres),
        // `use sqlx::{Pool, Sqlite}`, `use sqlx::sqlite::SqlitePool`.
        "sqlx" => import.path.iter().skip(1).find_map(|name| dialect_of_type(name)),
        _ => None,
    };
    let mut found: Vec<Dialect> = uses.iter().filter_map(of).collect();
    found.sort_unstable();
    found.dedup();
    if found.len() == 1 { found.pop() } else { None }
}

/// The dialect that a module or type of `sqlx` is for.
fn dialect_of_type(name: &str) -> Option<Dialect> {
    let name = name.to_ascii_lowercase();
    if name.starts_with("sqlite") {
        Some(Dialect::Sqlite)
    } else if name.starts_with("mysql") {
        Some(Dialect::MySql)
    } else if name.starts_with("pg") || name.starts_with("postgres") {
        Some(Dialect::Postgres)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_text_does_to_its_sessions_lock() {
        use SessionAct::{Release, Take, Try};
        for (text, expected) in [
            ("SELECT pg_advisory_lock($1)", Some((Take, false))),
            ("select pg_try_advisory_lock(1, 2)", Some((Try, false))),
            ("SELECT pg_try_advisory_lock_shared(1)", Some((Try, false))),
            ("SELECT pg_advisory_xact_lock(1)", Some((Take, true))),
            ("SELECT pg_try_advisory_xact_lock(1)", Some((Try, true))),
            ("SELECT pg_advisory_unlock(1)", Some((Release, false))),
            ("SELECT pg_advisory_unlock_all()", Some((Release, false))),
            ("DISCARD ALL;", Some((Release, false))),
            ("SELECT GET_LOCK(?, 10)", Some((Try, false))),
            ("DO RELEASE_LOCK('a')", Some((Release, false))),
            // Both in one statement meet one session.
            ("SELECT pg_advisory_lock(1), work(), pg_advisory_unlock(1)", None),
            ("SELECT queue.get_lock($1)", None),
            ("SELECT try_get_lock($1)", None),
            ("SELECT * FROM advisory_locks", None),
        ] {
            let found = session_lock(text).map(|lock| (lock.act, lock.for_transaction));
            assert_eq!(found, expected, "{text}");
        }
    }
}
