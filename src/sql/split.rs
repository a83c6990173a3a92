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

/// So many first words tell what a statement is.
const MOST_WORDS: usize = 8;

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
    /// The tool's StatementBegin that has no StatementEnd yet: until there nothing ends a statement.
    whole: Option<Span>,
    open_bodies: usize,
    /// Some COPY had data without an end, so that no later one has an end either.
    endless_copy: bool,
    current: Current,
}

/// The statement that is being read.
#[derive(Debug, Default)]
struct Current {
    start: Option<usize>,
    end: usize,
    /// Its first words in capitals.
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
            whole: None,
            open_bodies: 0,
            endless_copy: false,
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
                self.close_whole();
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
        // Another delimiter, or a tool's marks, hold together what a routine's body needs; other statements
        // between them end where they always do.
        let bracketed = self.delimiter.is_some() || self.whole.is_some();
        if self.current.depth > 0 || (bracketed && self.current.routine) {
            self.current.first_semicolon.get_or_insert(token.end);
            self.current.end = token.end;
            self.current.after_end = false;
            return;
        }
        let copies = self.current.head.first().is_some_and(|w| w == "COPY")
            && self.current_words().any(|w| w.eq_ignore_ascii_case("stdin"));
        let at = span(self.current.start.unwrap_or(token.start), token.end);
        self.flush();
        if copies {
            self.skip_copy_data(at);
        }
    }

    fn current_words(&self) -> impl Iterator<Item = &str> {
        let start = self.current.start.unwrap_or(0);
        self.text[start..self.current.end.max(start)].split(|c: char| !c.is_alphanumeric())
    }

    /// Data of `COPY … FROM stdin` reaches to a line of `\.`; without one, to the next line that begins as
    /// a statement does.
    fn skip_copy_data(&mut self, copy: Span) {
        let rest = &self.text[self.lexer.at..];
        let mut offset = 0;
        let mut statement = None;
        for line in rest.split_inclusive('\n') {
            if statement.is_none() && opens_statement(line) {
                statement = Some(offset);
                if self.endless_copy {
                    break;
                }
            }
            offset += line.len();
            if line.trim_end() == "\\." {
                self.lexer.at += offset;
                return;
            }
        }
        self.endless_copy = true;
        let data = &rest[..statement.unwrap_or(rest.len())];
        if data.lines().any(|line| !line.trim().is_empty() && !line.starts_with("--")) {
            self.found.problems.push((copy, "a COPY whose data has no end".to_owned()));
        }
        self.lexer.at += data.len();
    }

    /// A line that speaks to the client and is no SQL; `true` when it was one and is behind us.
    fn client_command(&mut self, token: &Token) -> bool {
        let word = token.text(self.text);
        let alone = || self.rest_of_line(token.end).trim().is_empty();
        // A `#` between statements is a remark, whatever the dialect of the statements.
        if word == "\\" || word == "#" || (word == "/" && alone()) {
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
                self.close_whole();
                self.whole = Some(span(token.start, token.end));
            }
            ("+goose" | "+migrate", "statementend") => {
                self.whole = None;
                self.flush();
            }
            ("statement-breakpoint", _) => self.flush(),
            _ => {}
        }
    }

    fn enter(&mut self, section: Section) {
        self.close_whole();
        self.section = section;
    }

    /// Ends the statement, and says it when the tool's own end is missing.
    fn close_whole(&mut self) {
        let open = self.whole.take();
        self.found
            .problems
            .extend(open.map(|span| (span, "a StatementBegin without its StatementEnd".to_owned())));
        self.flush();
    }

    fn take(&mut self, token: &Token) {
        let current = &mut self.current;
        current.start.get_or_insert(token.start);
        current.end = token.end;
        let was_end = std::mem::take(&mut current.after_end);
        if token.kind != TokenKind::Word || (!current.routine && current.head.len() >= MOST_WORDS) {
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
        } else {
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

/// Whether a line begins with the words of a statement, in capitals, as rows of data do not.
fn opens_statement(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let follows: &[&str] = match first {
        "CREATE" | "ALTER" | "DROP" => {
            &["TABLE", "INDEX", "UNIQUE", "FUNCTION", "TRIGGER", "SEQUENCE", "TYPE"]
        }
        "INSERT" => &["INTO"],
        "DELETE" => &["FROM"],
        "UPDATE" => return words.next() == Some("SET"),
        "COPY" => return line.contains(" FROM "),
        _ => return false,
    };
    follows.contains(&second)
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
        let text = "DELIMITER //\nINSERT INTO a VALUES (1);\nDELETE FROM a;\n//\nDELIMITER ;";
        assert_eq!(cut(text, Dialect::MySql).len(), 2, "the delimiter is needed for bodies only");
        let text = "DELIMITER $$\nCREATE TRIGGER t BEGIN a; END $$\nDELIMITER ;\nSELECT 1;";
        assert_eq!(cut(text, Dialect::Generic), ["CREATE TRIGGER t BEGIN a; END", "SELECT 1"]);
    }

    #[test]
    fn tools_mark_sections_and_statements() {
        let text = "-- +goose Up\nSELECT 1;\n-- +goose StatementBegin\nSELECT 2; SELECT 3;\n-- +goose StatementEnd\n\
                    -- +goose StatementBegin\nCREATE TRIGGER t AFTER UPDATE ON a FOR EACH ROW CALL f(); \n-- +goose StatementEnd\n\
                    -- +goose Down\nDROP TABLE a;";
        let found = split(text, Dialect::Postgres);
        assert!(found.problems.is_empty());
        assert_eq!(
            found.pieces.iter().map(|p| p.section).collect::<Vec<_>>(),
            [Section::Up, Section::Up, Section::Up, Section::Up, Section::Down],
            "several statements may stand between the marks"
        );
        let text = "-- migrate:up\nSELECT 1;\n-- migrate:down\nSELECT 2;";
        assert_eq!(split(text, Dialect::Postgres).pieces[1].section, Section::Down);
        assert_eq!(cut("SELECT 1\n--> statement-breakpoint\nSELECT 2", Dialect::Sqlite).len(), 2);
    }

    #[test]
    fn marks_and_data_without_an_end_are_told() {
        let text = "-- +goose Up\n-- +goose StatementBegin\nSELECT 1;\n-- +goose Down\nDROP TABLE a;";
        let found = split(text, Dialect::Postgres);
        assert_eq!((found.problems.len(), found.pieces.len()), (1, 2), "{found:?}");
        assert_eq!(found.pieces[1].section, Section::Down);
        let text = "COPY a FROM stdin;\n1\tx\n2\tupdate\nDELETE FROM b;\nCOPY a FROM stdin;\n3\tx\n";
        let found = split(text, Dialect::Postgres);
        assert_eq!((found.problems.len(), found.pieces.len()), (2, 3), "{found:?}");
        let alone = split("COPY a FROM stdin;\n", Dialect::Postgres);
        assert!(alone.problems.is_empty(), "a program sends the data");
        assert_eq!(cut("# a remark; of some client\nSELECT 1;", Dialect::Postgres), ["SELECT 1"]);
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
