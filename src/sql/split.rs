//! Cuts a text into statements, whatever tool it was written for.
//!
//! Knows the clients' own commands (`DELIMITER`, psql's backslash lines, `COPY` data), the marks of
//! migration tools, and bodies between BEGIN and END. It judges no statement.

use super::lex::{Lexer, Token, TokenKind};
use crate::facts::Span;
use crate::facts::sql::{Dialect, Section};

/// One statement's place, without its terminator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) section: Section,
}

#[derive(Debug, Default)]
pub(super) struct Pieces {
    pub(super) pieces: Vec<Piece>,
    pub(super) problems: Vec<(Span, String)>,
}

/// How many bodies without an END are forgiven before BEGIN counts no more.
const OPEN_BODIES: usize = 8;

pub(super) fn split(text: &str, dialect: Dialect) -> Pieces {
    let mut splitter = Splitter::new(text, dialect);
    splitter.run();
    splitter.found
}

struct Splitter<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
    found: Pieces,
    section: Section,
    /// The client's delimiter, when it is not the semicolon.
    delimiter: Option<String>,
    /// Between a tool's StatementBegin and StatementEnd nothing ends a statement.
    whole: bool,
    open_bodies: usize,
    current: Current,
}

/// The statement that is being read.
#[derive(Debug, Default)]
struct Current {
    start: Option<usize>,
    end: usize,
    /// Its first words in capitals, up to eight.
    head: Vec<String>,
    routine: bool,
    depth: usize,
    first_semicolon: Option<usize>,
    after_end: bool,
}

impl<'a> Splitter<'a> {
    fn new(text: &'a str, dialect: Dialect) -> Self {
        let mut lexer = Lexer::new(text, dialect);
        if text.starts_with('\u{feff}') {
            lexer.at = 3;
        }
        Self {
            text,
            lexer,
            found: Pieces::default(),
            section: Section::Up,
            delimiter: None,
            whole: false,
            open_bodies: 0,
            current: Current::default(),
        }
    }

    fn run(&mut self) {
        loop {
            if self.at_delimiter() {
                continue;
            }
            let Some(token) = self.lexer.next() else {
                if self.reopen() {
                    continue;
                }
                self.flush();
                return;
            };
            // The delimiter may stand after blanks.
            if let Some(delimiter) = &self.delimiter
                && self.text[token.start..].starts_with(delimiter.as_str())
            {
                self.lexer.at = token.start;
                continue;
            }
            self.note_break(&token);
            match token.kind {
                TokenKind::Comment => self.comment(&token),
                _ if self.current.start.is_none() && self.client_command(&token) => {}
                TokenKind::Symbol if token.text(self.text) == ";" => self.semicolon(&token),
                _ => self.take(&token),
            }
        }
    }

    fn note_break(&mut self, token: &Token) {
        if !token.unterminated {
            return;
        }
        let what = match token.kind {
            TokenKind::Comment => "a comment that never ends",
            TokenKind::DollarText => "a dollar-quoted text that never ends",
            _ => "a quote that never ends",
        };
        self.found.problems.push((span(token.start, token.end), what.to_owned()));
    }

    fn at_delimiter(&mut self) -> bool {
        let Some(delimiter) = &self.delimiter else {
            return false;
        };
        if !self.text.as_bytes()[self.lexer.at..].starts_with(delimiter.as_bytes()) {
            return false;
        }
        self.lexer.at += delimiter.len();
        self.flush();
        true
    }

    fn semicolon(&mut self, token: &Token) {
        if self.delimiter.is_some() || self.whole || self.current.depth > 0 {
            self.current.first_semicolon.get_or_insert(token.end);
            self.current.end = token.end;
            self.current.after_end = false;
            return;
        }
        let copies = self.current.head.first().is_some_and(|w| w == "COPY")
            && self.current_words().any(|w| w.eq_ignore_ascii_case("stdin"));
        self.flush();
        if copies {
            self.skip_copy_data();
        }
    }

    fn current_words(&self) -> impl Iterator<Item = &str> {
        let start = self.current.start.unwrap_or(0);
        self.text[start..self.current.end.max(start)].split(|c: char| !c.is_alphanumeric())
    }

    /// Data of `COPY … FROM stdin` reaches to a line of `\.`.
    fn skip_copy_data(&mut self) {
        let rest = &self.text[self.lexer.at..];
        let mut offset = 0;
        for line in rest.split_inclusive('\n') {
            offset += line.len();
            if line.trim_end() == "\\." {
                break;
            }
        }
        self.lexer.at += offset;
    }

    /// A line that speaks to the client and is no SQL; `true` when it was one and is behind us.
    fn client_command(&mut self, token: &Token) -> bool {
        let word = token.text(self.text);
        if word == "\\" || (word == "/" && self.rest_of_line(token.end).trim().is_empty()) {
            self.lexer.at = self.line_end(token.end);
            return true;
        }
        if token.kind == TokenKind::Word && word.eq_ignore_ascii_case("delimiter") {
            let delimiter = self.rest_of_line(token.end).trim().to_owned();
            self.lexer.at = self.line_end(token.end);
            self.lexer.dollar_quotes &= !delimiter.contains('$');
            self.delimiter = (!delimiter.is_empty() && delimiter != ";").then_some(delimiter);
            return true;
        }
        false
    }

    fn rest_of_line(&self, from: usize) -> &'a str {
        &self.text[from..self.line_end(from)]
    }

    fn line_end(&self, from: usize) -> usize {
        self.text.as_bytes()[from..].iter().position(|b| *b == b'\n').map_or(self.text.len(), |i| from + i)
    }

    /// Migration tools speak through comments.
    fn comment(&mut self, token: &Token) {
        let words = token.text(self.text).trim_start_matches(['-', '#', '/', '*', '>', ' ', '\t']);
        let mut words = words.split_whitespace().map(str::to_ascii_lowercase);
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        match (first.as_str(), second.as_str()) {
            ("+goose" | "+migrate" | "rambler" | "@", "up") | ("migrate:up", _) => self.enter(Section::Up),
            ("+goose" | "+migrate" | "rambler" | "@", "down") | ("migrate:down" | "@undo", _) => {
                self.enter(Section::Down)
            }
            ("+goose" | "+migrate", "statementbegin") => {
                self.flush();
                self.whole = true;
            }
            ("+goose" | "+migrate", "statementend") => {
                self.whole = false;
                self.flush();
            }
            ("statement-breakpoint", _) => self.flush(),
            _ => {}
        }
    }

    fn enter(&mut self, section: Section) {
        self.whole = false;
        self.flush();
        self.section = section;
    }

    fn take(&mut self, token: &Token) {
        let current = &mut self.current;
        current.start.get_or_insert(token.start);
        current.end = token.end;
        let was_end = std::mem::take(&mut current.after_end);
        if token.kind != TokenKind::Word {
            return;
        }
        let word = token.text(self.text).to_ascii_uppercase();
        if current.routine {
            match word.as_str() {
                "BEGIN" => current.depth += 1,
                "CASE" if !was_end => current.depth += usize::from(current.depth > 0),
                // An `END IF` closes what was never counted.
                "IF" | "LOOP" | "WHILE" | "REPEAT" if was_end => current.depth += 1,
                "END" => {
                    current.after_end = current.depth > 0;
                    current.depth = current.depth.saturating_sub(1);
                }
                _ => {}
            }
        } else if current.head.len() < 8 {
            current.head.push(word);
            current.routine = self.open_bodies < OPEN_BODIES && opens_routine(&current.head);
        }
    }

    /// At the end of the text, a body without END gives back what it swallowed.
    fn reopen(&mut self) -> bool {
        let Some(semicolon) = self.current.first_semicolon else {
            return false;
        };
        if self.current.depth == 0 || self.delimiter.is_some() {
            return false;
        }
        self.open_bodies += 1;
        let start = self.current.start.unwrap_or(semicolon);
        self.found.problems.push((span(start, semicolon), "a BEGIN without its END".to_owned()));
        self.current.end = semicolon - 1;
        self.flush();
        self.lexer.at = semicolon;
        true
    }

    fn flush(&mut self) {
        let current = std::mem::take(&mut self.current);
        let Some(start) = current.start else { return };
        let end = start
            + self.text[start..current.end.max(start)].trim_end_matches([';', ' ', '\n', '\r', '\t']).len();
        if end > start {
            self.found.pieces.push(Piece { start, end, section: self.section });
        }
    }
}

/// Whether these first words open a statement whose body may hold semicolons.
fn opens_routine(head: &[String]) -> bool {
    let Some(last) = head.last() else {
        return false;
    };
    head[0] == "CREATE"
        && matches!(last.as_str(), "TRIGGER" | "PROCEDURE" | "FUNCTION" | "EVENT" | "PACKAGE")
        && !head.iter().any(|w| w == "TABLE" || w == "VIEW" || w == "INDEX")
}

fn span(start: usize, end: usize) -> Span {
    let offset = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Span::new(offset(start), offset(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, dialect: Dialect) -> Vec<&str> {
        split(text, dialect).pieces.iter().map(|p| &text[p.start..p.end]).collect()
    }

    #[test]
    fn a_body_stays_in_one_piece() {
        let text = "CREATE TRIGGER t BEFORE UPDATE ON a BEGIN SELECT CASE WHEN 1 THEN 2 END; SELECT 1; END;\n\
                    DELETE FROM b;";
        assert_eq!(cut(text, Dialect::Sqlite).len(), 2);
        let text = "CREATE PROCEDURE p() BEGIN IF x THEN SELECT 1; END IF; WHILE y DO SELECT 2; END WHILE; END;\nSELECT 3";
        assert_eq!(cut(text, Dialect::MySql).len(), 2);
        let text = "CREATE FUNCTION f() RETURNS trigger AS $f$ BEGIN a; END $f$ LANGUAGE plpgsql; SELECT 1;";
        assert_eq!(cut(text, Dialect::Postgres).len(), 2);
    }

    #[test]
    fn clients_commands_are_no_statements() {
        let text = "\\connect db\nDELIMITER //\nCREATE TRIGGER t BEFORE UPDATE ON a FOR EACH ROW BEGIN x; END//\n\
                    DELIMITER ;\nUPDATE a SET b = 1;\n/\n";
        assert_eq!(cut(text, Dialect::MySql).len(), 2);
        let text = "COPY a (b) FROM stdin;\n1;\n2 'x\n\\.\nSELECT 1;";
        assert_eq!(cut(text, Dialect::Postgres), ["COPY a (b) FROM stdin", "SELECT 1"]);
        let text = "DELIMITER $$\nCREATE TRIGGER t BEGIN a; END $$\nDELIMITER ;\nSELECT 1;";
        assert_eq!(cut(text, Dialect::Generic), ["CREATE TRIGGER t BEGIN a; END", "SELECT 1"]);
    }

    #[test]
    fn tools_mark_sections_and_statements() {
        let text = "-- +goose Up\nSELECT 1;\n-- +goose StatementBegin\nSELECT 2; SELECT 3;\n-- +goose StatementEnd\n\
                    -- +goose Down\nDROP TABLE a;";
        let found = split(text, Dialect::Postgres).pieces;
        assert_eq!(
            found.iter().map(|p| p.section).collect::<Vec<_>>(),
            [Section::Up, Section::Up, Section::Down]
        );
        let text = "-- migrate:up\nSELECT 1;\n-- migrate:down\nSELECT 2;";
        assert_eq!(split(text, Dialect::Postgres).pieces[1].section, Section::Down);
        assert_eq!(cut("SELECT 1\n--> statement-breakpoint\nSELECT 2", Dialect::Sqlite).len(), 2);
    }

    #[test]
    fn broken_text_hides_nothing_behind_it() {
        let text = "\u{feff}SELECT 1;\r\nUPDATE a SET b = 'x;\r\nDELETE FROM c;\r\n";
        let found = split(text, Dialect::Postgres);
        assert_eq!(found.problems.len(), 1);
        assert_eq!(found.pieces.len(), 3);
        let text = "CREATE TRIGGER t BEGIN SELECT 1; SELECT 2; SELECT 3;";
        assert_eq!(split(text, Dialect::Sqlite).pieces.len(), 3);
        assert!(split("", Dialect::Generic).pieces.is_empty());
    }
}
