//! Texts of statements that take a lock by a row or of the session, told before anything is evaluated: their
//! callers hold the lock, so that these must be looked at too.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::facts::rust::{Constant, Expr, ExprKind, Function};
use crate::facts::walk::{each_expr, each_part};
use crate::locks::naming::is_database_clock;

/// Whether a text of a function changes a table with the name of a lock, or asks for one of the session.
pub fn names_row_lock(function: &Function) -> bool {
    holds(function, changes_lock)
}

/// Whether a text of a function takes rows whose time is over.
pub fn takes_row_lease(function: &Function) -> bool {
    holds(function, takes_expired)
}

/// Whether a constant is the text of a statement that takes such rows.
pub fn is_row_lease(constant: &Constant) -> bool {
    let mut found = false;
    if let Some(value) = &constant.value {
        each_part(value, &mut |part| found |= is_text(part, takes_expired));
    }
    found
}

fn holds(function: &Function, wanted: fn(&str) -> bool) -> bool {
    let mut found = false;
    if let Some(body) = &function.body {
        each_expr(body, &mut |expr| found |= is_text(expr, wanted));
    }
    found
}

fn is_text(expr: &Expr, wanted: fn(&str) -> bool) -> bool {
    matches!(&expr.kind, ExprKind::Text(literal) if wanted(&literal.value))
}

/// A row is given a new time by the database's clock, where its old one is over by the same clock.
fn takes_expired(text: &str) -> bool {
    let words = || text.split(|c: char| !c.is_alphanumeric() && c != '_');
    let changes = |word: &str| ["update", "insert"].iter().any(|verb| word.eq_ignore_ascii_case(verb));
    text.contains('<')
        && words().any(changes)
        && words().filter(|word| is_database_clock(&word.to_ascii_lowercase())).count() > 1
}

fn changes_lock(text: &str) -> bool {
    static CHANGES: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        let words =
            ["insert into ", "insert ignore into ", "update ", "delete from ", "advisory_", "get_lock("];
        AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok()
    });
    let Some(changes) = &*CHANGES else { return false };
    changes.find_iter(text).any(|change| {
        let is_of_session = text[change.range()].ends_with(['_', '(']);
        let table = text[change.end()..].split(|c: char| c.is_whitespace() || c == '(').next().unwrap_or("");
        let table = table.to_ascii_lowercase();
        is_of_session
            || table
                .split(|c: char| !c.is_alphanumeric())
                .any(|word| word.starts_with("lease") || word.starts_with("lock"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expired_row_is_taken_by_one_clock() {
        for text in [
            "UPDATE turns SET ends = now() + interval '1 minute' WHERE ends < now()",
            "update ovens set hot_until = NOW(6) + INTERVAL 30 SECOND where hot_until <= NOW(6)",
        ] {
            assert!(takes_expired(text), "{text}");
        }
        for text in [
            "UPDATE turns SET seen = now() WHERE id = $1",
            "DELETE FROM turns WHERE ends < now() AND begun < now()",
            "SELECT now(), now() FROM turns WHERE ends < $1",
        ] {
            assert!(!takes_expired(text), "{text}");
        }
    }
}
