//! INSERT of literal rows, the form that dumps are made of, read in one pass and without the grammar.
//!
//! What comes out equals what the grammar would give; anything but literals is left to it.

use super::lex::{Lexer, Token, TokenKind};
use super::source::offset;
use super::split::Piece;
use crate::facts::Span;
use crate::facts::sql::{Dialect, Expr, ExprKind, StatementKind, TableName, Write, WriteVerb};

/// `None` when the statement is any other, or holds more than literals.
pub(super) fn read(text: &str, piece: Piece, dialect: Dialect) -> Option<StatementKind> {
    let mut rows = Rows { text, dialect, lexer: Lexer::within(text, piece.start, piece.end, dialect) };
    let write = rows.insert()?;
    Some(StatementKind::Write(Box::new(write)))
}

struct Rows<'a> {
    text: &'a str,
    dialect: Dialect,
    lexer: Lexer<'a>,
}

impl<'a> Rows<'a> {
    fn next(&mut self) -> Option<Token> {
        self.lexer.find(|token| token.kind != TokenKind::Comment)
    }

    fn is(&self, token: Token, word: &str) -> bool {
        token.is(self.text, word)
    }

    fn expect(&mut self, word: &str) -> Option<Token> {
        self.next().filter(|token| token.is(self.text, word))
    }

    fn insert(&mut self) -> Option<Write> {
        let first = self.next()?;
        let replaces = self.is(first, "REPLACE");
        if !replaces && !self.is(first, "INSERT") {
            return None;
        }
        let mut token = self.next()?;
        let mut ignores = self.is(token, "IGNORE");
        if self.is(token, "OR") {
            self.expect("IGNORE")?;
            ignores = true;
        }
        if ignores {
            token = self.next()?;
        }
        if !self.is(token, "INTO") {
            return None;
        }
        let verb = if replaces { WriteVerb::Replace } else { WriteVerb::Insert };
        let (table, table_span, mut token) = self.table()?;
        let mut write = Write::new(verb, table, table_span);
        write.skips_conflicts = ignores;
        if self.is(token, "(") {
            write.insert_columns = self.columns()?;
            token = self.next()?;
        }
        if !self.is(token, "VALUES") {
            return None;
        }
        self.rows(&mut write)?;
        Some(write)
    }

    /// The table's name, its place, and the token behind it.
    fn table(&mut self) -> Option<(TableName, Span, Token)> {
        let first = self.next()?;
        let (mut name, mut schema) = (self.name(first)?, None);
        let (start, mut end) = (first.start, first.end);
        loop {
            let token = self.next()?;
            if !self.is(token, ".") {
                let span = Span::new(offset(start), offset(end));
                return Some((TableName { schema, name }, span, token));
            }
            let part = self.next()?;
            schema = Some(std::mem::replace(&mut name, self.name(part)?));
            end = part.end;
        }
    }

    fn columns(&mut self) -> Option<Vec<String>> {
        let mut found = Vec::new();
        loop {
            let column = self.next()?;
            found.push(self.name(column)?);
            let token = self.next()?;
            if self.is(token, ")") {
                return Some(found);
            }
            if !self.is(token, ",") {
                return None;
            }
        }
    }

    fn name(&self, token: Token) -> Option<String> {
        let written = token.text(self.text);
        match token.kind {
            TokenKind::Word if self.dialect == Dialect::Postgres => Some(written.to_lowercase()),
            TokenKind::Word => Some(written.to_owned()),
            TokenKind::QuotedName => {
                let inner = written.get(1..written.len().checked_sub(1)?)?;
                (!inner.is_empty()).then(|| inner.to_owned())
            }
            _ => None,
        }
    }

    /// The rows to the end; the first is kept, as the facts have it.
    fn rows(&mut self, write: &mut Write) -> Option<()> {
        loop {
            self.expect("(")?;
            let first = write.insert_values.is_empty();
            loop {
                let (token, kind) = self.literal(first)?;
                if first {
                    let span = Span::new(offset(token.start), offset(token.end));
                    write.insert_values.push(Expr { span, kind });
                }
                let token = self.next()?;
                if self.is(token, ")") {
                    break;
                }
                if !self.is(token, ",") {
                    return None;
                }
            }
            match self.next() {
                None => return Some(()),
                Some(token) if self.is(token, ",") => {}
                Some(token) if self.is(token, "ON") => return self.skips_conflicts(write),
                Some(_) => return None,
            }
        }
    }

    /// `ON CONFLICT DO NOTHING` and no more.
    fn skips_conflicts(&mut self, write: &mut Write) -> Option<()> {
        for word in ["CONFLICT", "DO", "NOTHING"] {
            self.expect(word)?;
        }
        write.skips_conflicts = true;
        self.next().is_none().then_some(())
    }

    /// One value; what it is matters in the first row only.
    fn literal(&mut self, wanted: bool) -> Option<(Token, ExprKind)> {
        let mut token = self.next()?;
        let signed = self.is(token, "-") || self.is(token, "+");
        if signed {
            token = self.next()?;
        }
        let written = token.text(self.text);
        let kind = match token.kind {
            TokenKind::Number => ExprKind::Number(if wanted { written.to_owned() } else { String::new() }),
            _ if signed || token.unterminated => return None,
            TokenKind::Text => {
                let inner = written.get(1..written.len().saturating_sub(1)).unwrap_or("");
                ExprKind::Text(if wanted { inner.to_owned() } else { String::new() })
            }
            TokenKind::Word if self.is(token, "NULL") => ExprKind::Null,
            TokenKind::Word if self.is(token, "TRUE") => ExprKind::Boolean(true),
            TokenKind::Word if self.is(token, "FALSE") => ExprKind::Boolean(false),
            _ => return None,
        };
        Some((token, kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::sql::Section;

    fn whole(text: &str) -> Piece {
        Piece { start: 0, end: text.len(), section: Section::Up }
    }

    #[test]
    fn rows_read_as_the_grammar_reads_them() {
        for (text, dialect) in [
            ("INSERT INTO a VALUES (1, -2.5, 'it''s', NULL, true, FALSE)", Dialect::Postgres),
            ("insert into Q.\"A b\" (x, \"Y\") values (1, 'é'), (3, '4;')", Dialect::Postgres),
            ("INSERT INTO a (b) VALUES ('x') ON CONFLICT DO NOTHING", Dialect::Postgres),
            ("INSERT INTO Über (b) VALUES (E'x\\'y')", Dialect::Postgres),
            ("INSERT IGNORE INTO `a` (`b`) VALUES ('x\\'y'), (-- why\n 'z')", Dialect::MySql),
            ("REPLACE INTO a VALUES (+1, 1e3)", Dialect::MySql),
            ("INSERT OR IGNORE INTO Main.a VALUES (X'00ff')", Dialect::Sqlite),
        ] {
            let found = read(text, whole(text), dialect).unwrap_or_else(|| panic!("{text}"));
            let expected = super::super::statement::by_grammar(text, whole(text), dialect, &[]);
            assert_eq!((found, true), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_literal_is_left_to_the_grammar() {
        for text in [
            "INSERT INTO a VALUES (now())",
            "INSERT INTO a VALUES ($1)",
            "INSERT INTO a VALUES ('{}'::jsonb)",
            "INSERT INTO a VALUES (1) ON CONFLICT (b) DO UPDATE SET c = 1",
            "INSERT INTO a VALUES (1) RETURNING b",
            "INSERT INTO a SELECT 1",
            "INSERT INTO a VALUES (1",
            "INSERT INTO a VALUES (1) (2)",
            "INSERT INTO {table} VALUES (1)",
            "INSERT OR REPLACE INTO a VALUES (1)",
            "UPDATE a SET b = 1",
            "INSERT",
            "",
        ] {
            assert_eq!(read(text, whole(text), Dialect::Postgres), None, "{text}");
        }
    }
}
