//! Which dialect a text is written in, judged by its own words, and the parser's settings for each.
//!
//! Folders, lock files and Cargo features say more about a dialect; they are weighed by the caller.

use aho_corasick::AhoCorasick;
use std::sync::LazyLock;

use super::lex::{TokenKind, tokens};
use crate::facts::sql::Dialect;

/// Words that one dialect has and the others lack, in lower case, with their weight.
const MARKS: &[(&str, Dialect, u32)] = &[
    ("engine=", Dialect::MySql, 4),
    ("engine =", Dialect::MySql, 4),
    ("auto_increment", Dialect::MySql, 4),
    ("unsigned", Dialect::MySql, 3),
    ("on duplicate key", Dialect::MySql, 4),
    ("utf8mb4", Dialect::MySql, 3),
    ("get_lock(", Dialect::MySql, 3),
    ("signal sqlstate", Dialect::MySql, 3),
    ("now(6)", Dialect::MySql, 3),
    ("datetime(6)", Dialect::MySql, 3),
    ("delimiter ", Dialect::MySql, 2),
    ("\n# ", Dialect::MySql, 2),
    ("`", Dialect::MySql, 1),
    ("$$", Dialect::Postgres, 3),
    ("jsonb", Dialect::Postgres, 3),
    ("::", Dialect::Postgres, 2),
    ("timestamptz", Dialect::Postgres, 3),
    ("bigserial", Dialect::Postgres, 3),
    ("bytea", Dialect::Postgres, 3),
    ("plpgsql", Dialect::Postgres, 4),
    ("clock_timestamp(", Dialect::Postgres, 3),
    ("pg_", Dialect::Postgres, 2),
    ("$1", Dialect::Postgres, 2),
    ("distinct from", Dialect::Postgres, 1),
    ("skip locked", Dialect::Postgres, 1),
    ("interval '", Dialect::Postgres, 1),
    ("uuid", Dialect::Postgres, 1),
    ("autoincrement", Dialect::Sqlite, 4),
    ("pragma ", Dialect::Sqlite, 4),
    ("without rowid", Dialect::Sqlite, 4),
    ("strftime(", Dialect::Sqlite, 3),
    ("unixepoch(", Dialect::Sqlite, 3),
    ("datetime('now'", Dialect::Sqlite, 3),
    ("raise(abort", Dialect::Sqlite, 4),
    ("insert or ", Dialect::Sqlite, 4),
    ("?1", Dialect::Sqlite, 2),
];

static WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(MARKS.iter().map(|(word, ..)| word))
        .expect("the list of words is small and constant")
});

/// Whether the text has parameters that PostgreSQL does not know: `?` and no `$1`.
pub fn has_question_marks(text: &str) -> bool {
    if !text.contains('?') {
        return false;
    }
    let parameters = tokens(text, 0, text.len(), Dialect::Sqlite).into_iter();
    let mut parameters = parameters.filter(|t| t.kind == TokenKind::Placeholder).map(|t| t.text(text));
    let mut bare = false;
    let numbered = parameters.any(|parameter| {
        bare |= parameter == "?";
        parameter.starts_with('$')
    });
    bare && !numbered
}

/// How much of a text is read for its dialect; the words come early.
const READ: usize = 64 * 1024;

/// The dialect whose words the text holds; `None` when it holds none, or as many of another.
pub fn guess_dialect(text: &str) -> Option<Dialect> {
    let head = &text.as_bytes()[..text.len().min(READ)];
    let mut seen = vec![false; MARKS.len()];
    for found in WORDS.find_overlapping_iter(head) {
        seen[found.pattern().as_usize()] = true;
    }
    let score = |dialect: Dialect| -> u32 {
        MARKS
            .iter()
            .zip(&seen)
            .filter(|((_, of, _), seen)| **seen && *of == dialect)
            .map(|((.., w), _)| w)
            .sum()
    };
    let mut ranked = [Dialect::Postgres, Dialect::MySql, Dialect::Sqlite].map(|d| (score(d), d));
    ranked.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    (ranked[0].0 > ranked[1].0).then_some(ranked[0].1)
}

/// The parser's dialects to try, the text's own first.
pub(super) fn order(first: Dialect) -> Vec<Dialect> {
    let all = [Dialect::Postgres, Dialect::MySql, Dialect::Sqlite, Dialect::Generic];
    std::iter::once(first).chain(all.into_iter().filter(|d| *d != first)).collect()
}

pub(super) fn grammar(dialect: Dialect) -> &'static dyn sqlparser::dialect::Dialect {
    use sqlparser::dialect::{GenericDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
    match dialect {
        Dialect::Postgres => &PostgreSqlDialect {},
        Dialect::MySql => &MySqlDialect {},
        Dialect::Sqlite => &SQLiteDialect {},
        Dialect::Generic => &GenericDialect {},
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_text_tell_its_dialect() {
        assert_eq!(guess_dialect("CREATE TABLE a (b TIMESTAMPTZ)"), Some(Dialect::Postgres));
        assert_eq!(guess_dialect("CREATE TABLE `a` (b BIGINT UNSIGNED) ENGINE=InnoDB"), Some(Dialect::MySql));
        assert_eq!(guess_dialect("PRAGMA foreign_keys = ON;"), Some(Dialect::Sqlite));
        assert_eq!(guess_dialect("CREATE TABLE a (b BIGINT)"), None);
    }
}
