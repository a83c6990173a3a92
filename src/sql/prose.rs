//! Tells a statement from a sentence: Rust literals hold both.

use super::lex::{Lexer, Token, TokenKind};
use crate::facts::sql::Dialect;

/// Whether the text starts like a statement: a verb, and the second keyword that the verb asks for.
pub fn looks_like_statement(text: &str) -> bool {
    let head: Vec<Token> =
        Lexer::new(text, Dialect::Generic).filter(|t| t.kind != TokenKind::Comment).take(40).collect();
    let words = Head { text, head: &head };
    match words.upper(0).as_str() {
        "UPDATE" => words.names_then(1, "SET") && words.assigns(),
        "DELETE" => words.upper(1) == "FROM" && words.is_name(2) || words.names_then(1, "FROM"),
        "INSERT" => words.insert(1),
        "REPLACE" => words.upper(1) == "INTO" && words.is_name(2),
        "SELECT" => words.select(),
        "WITH" => words.has("AS", 8) && words.head.iter().any(|t| t.text(text) == "("),
        "MERGE" => words.has("USING", 12),
        "CREATE" | "DROP" | "ALTER" => words.ddl(),
        "COPY" | "TRUNCATE" | "LOCK" => words.has("TABLE", 2) || words.has("STDIN", 20),
        _ => false,
    }
}

struct Head<'a> {
    text: &'a str,
    head: &'a [Token],
}

impl Head<'_> {
    fn upper(&self, at: usize) -> String {
        self.head.get(at).map_or_else(String::new, |t| t.text(self.text).to_ascii_uppercase())
    }

    fn is_name(&self, at: usize) -> bool {
        use TokenKind as K;
        self.head
            .get(at)
            .is_some_and(|t| matches!(t.kind, K::Word | K::QuotedName | K::Hole | K::Placeholder))
    }

    fn has(&self, word: &str, within: usize) -> bool {
        self.head.iter().take(within).any(|t| t.is(self.text, word))
    }

    /// A table (with schema, alias or joins) and then this keyword.
    fn names_then(&self, from: usize, word: &str) -> bool {
        let Some(at) = (from..self.head.len()).find(|i| self.head[*i].is(self.text, word)) else {
            return false;
        };
        let joins = self.has("JOIN", 20);
        at > from && self.is_name(from) && (joins || at - from <= 8) && self.head.len() > at + 1
    }

    /// A column and `=` behind SET, or a hole where a list may stand.
    fn assigns(&self) -> bool {
        let Some(set) = self.head.iter().position(|t| t.is(self.text, "SET")) else {
            return false;
        };
        let after = &self.head[set + 1..];
        after.first().is_some_and(|t| t.kind == TokenKind::Hole)
            || after.iter().take(12).any(|t| t.is(self.text, "="))
    }

    fn insert(&self, from: usize) -> bool {
        let into = (from..self.head.len().min(6)).find(|i| self.head[*i].is(self.text, "INTO"));
        let Some(into) = into else { return false };
        let after = &self.head[into + 1..];
        self.is_name(into + 1)
            && after.iter().take(6).any(|t| {
                t.text(self.text) == "("
                    || ["VALUES", "SELECT", "DEFAULT", "SET", "WITH"].iter().any(|w| t.is(self.text, w))
                    || t.kind == TokenKind::Hole
            })
    }

    /// `SELECT f(x)` or `SELECT … FROM name`; a sentence such as "Select a row from the list" has no
    /// list before its FROM.
    fn select(&self) -> bool {
        let calls = self.is_name(1) && self.head.get(2).is_some_and(|t| t.text(self.text) == "(");
        let from = (1..self.head.len()).find(|i| self.head[*i].is(self.text, "FROM"));
        let listed = from.is_some_and(|at| {
            let items = &self.head[1..at];
            let plain_words = items.iter().all(|t| t.kind == TokenKind::Word);
            !items.is_empty()
                && self.is_name(at + 1)
                && (!plain_words || items.len() == 1 || self.has("AS", at) || self.has("DISTINCT", at))
        });
        let star = self.head.get(1).is_some_and(|t| t.text(self.text) == "*" || t.kind == TokenKind::Number);
        calls || listed || star
    }

    fn ddl(&self) -> bool {
        let objects =
            ["TABLE", "INDEX", "TRIGGER", "FUNCTION", "PROCEDURE", "SCHEMA", "TYPE", "VIEW", "SEQUENCE"];
        (1..7.min(self.head.len())).any(|i| {
            objects.iter().any(|w| self.head[i].is(self.text, w))
                && self.is_name(i + 1)
                && self.head.len() > i + 1
        }) && self.head.iter().any(|t| t.kind != TokenKind::Word || self.upper(0) != "CREATE")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_told_from_sentences() {
        for text in [
            "UPDATE a SET b = 1",
            "update s.a as x set b = $1",
            "DELETE FROM a WHERE b",
            "INSERT INTO a (b) VALUES (?)",
            "insert or replace into {} values (1)",
            "SELECT pg_advisory_lock($1)",
            "SELECT id, body FROM work",
            "SELECT id FROM work WHERE x",
            "\n  -- a note\n WITH x AS (SELECT 1) DELETE FROM b",
            "CREATE TABLE a (b INT)",
            "DROP TABLE jobs",
        ] {
            assert!(looks_like_statement(text), "{text}");
        }
        for text in [
            "Update failed: could not set the value",
            "Delete the entry",
            "Create table failed",
            "Select an item from the list",
            "insert coin",
            "with love",
            "",
            "updating",
            "UPDATE",
        ] {
            assert!(!looks_like_statement(text), "{text}");
        }
    }
}
