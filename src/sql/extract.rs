//! What the words alone say of a statement that no grammar reads.
//!
//! Only positive evidence comes from here: the verb, the table, the columns named. Nothing here claims
//! that a predicate is sufficient, or that one is absent.

use super::lex::{Token, TokenKind};
use super::source::Source;
use crate::facts::Span;
use crate::facts::sql::{
    AlterTable, Assignment, ColumnDefinition, CreateTable, Expr, ExprKind, StatementKind, TableChange,
    TableName, UniqueColumns, Write, WriteVerb,
};

/// The statement's first two words.
pub(super) fn other(source: &Source<'_>) -> StatementKind {
    let words: Vec<String> = source
        .tokens
        .iter()
        .take_while(|t| t.kind == TokenKind::Word)
        .take(2)
        .map(|t| t.text(source.text).to_ascii_uppercase())
        .collect();
    StatementKind::Other { verb: words.join(" ") }
}

pub(super) fn extract(source: &Source<'_>) -> StatementKind {
    let words = Words { source };
    let found = match words.upper(0).as_str() {
        "CREATE" => words.create_table().or_else(|| words.create_index()),
        "ALTER" => words.alter_table(),
        "DROP" => words.drop(),
        "UPDATE" | "DELETE" | "INSERT" | "REPLACE" | "MERGE" | "WITH" => words.write(),
        _ => None,
    };
    found.unwrap_or_else(|| other(source))
}

/// The table of an ALTER TABLE and the tokens of each of its changes.
pub(super) fn changes_of(source: &Source<'_>) -> Option<(TableName, Vec<(usize, usize)>)> {
    let words = Words { source };
    if !words.is(0, "ALTER") {
        return None;
    }
    let (table, after) = words.table(words.find(0, "TABLE")? + 1)?;
    Some((table, words.items(after)))
}

/// What the words of one change of an ALTER TABLE say.
pub(super) fn change(source: &Source<'_>, (start, end): (usize, usize)) -> TableChange {
    Words { source }.change(start, end)
}

struct Words<'a> {
    source: &'a Source<'a>,
}

impl Words<'_> {
    fn token(&self, at: usize) -> Option<&Token> {
        self.source.tokens.get(at)
    }

    fn upper(&self, at: usize) -> String {
        self.token(at).map_or_else(String::new, |t| t.text(self.source.text).to_ascii_uppercase())
    }

    fn is(&self, at: usize, word: &str) -> bool {
        self.token(at).is_some_and(|t| t.is(self.source.text, word))
    }

    fn is_any(&self, at: usize, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(at, word))
    }

    fn find(&self, from: usize, word: &str) -> Option<usize> {
        (from..self.source.tokens.len()).find(|i| self.is(*i, word))
    }

    fn name(&self, at: usize) -> Option<String> {
        let token = self.token(at)?;
        let text = token.text(self.source.text);
        match token.kind {
            TokenKind::Word => Some(text.to_owned()),
            TokenKind::QuotedName if text.len() > 2 => text.get(1..text.len() - 1).map(str::to_owned),
            TokenKind::Hole | TokenKind::Placeholder => Some(text.to_owned()),
            _ => None,
        }
    }

    fn span(&self, at: usize) -> Span {
        self.token(at).map_or_else(Span::default, |t| {
            Span::new(super::source::offset(t.start), super::source::offset(t.end))
        })
    }

    /// A table's name that starts at this token, and the token after it.
    fn table(&self, mut at: usize) -> Option<(TableName, usize)> {
        while ["IF", "NOT", "EXISTS", "ONLY"].iter().any(|w| self.is(at, w)) {
            at += 1;
        }
        let mut parts = vec![self.name(at)?];
        at += 1;
        while self.is(at, ".") {
            parts.push(self.name(at + 1)?);
            at += 2;
        }
        let name = parts.pop()?;
        Some((TableName { schema: parts.pop(), name }, at))
    }

    fn write(&self) -> Option<StatementKind> {
        let first = (0..self.source.tokens.len())
            .find(|i| ["UPDATE", "DELETE", "INSERT", "REPLACE", "MERGE"].iter().any(|w| self.is(*i, w)))?;
        let (verb, name_at) = match self.upper(first).as_str() {
            "UPDATE" => (WriteVerb::Update, first + 1),
            "DELETE" => (WriteVerb::Delete, self.find(first, "FROM")? + 1),
            "REPLACE" => (WriteVerb::Replace, self.find(first, "INTO")? + 1),
            "MERGE" => (WriteVerb::Merge, self.find(first, "INTO").unwrap_or(first) + 1),
            _ => (self.insert_verb(first), self.find(first, "INTO")? + 1),
        };
        let (table, after) = self.table(name_at)?;
        let mut write = Write::new(verb, table, self.span(name_at));
        if verb == WriteVerb::Update {
            let set = self.find(after, "SET")?;
            // Nothing is known of an update that sets nothing.
            if self.token(set + 1).is_none() || self.is_any(set + 1, &["SET", "WHERE", "FROM", ",", ")", "="])
            {
                return None;
            }
        }
        if self.is(after, "(") {
            let columns = (after + 1..).take_while(|i| *i < self.source.tokens.len() && !self.is(*i, ")"));
            write.insert_columns = columns.filter_map(|i| self.name(i)).collect();
        }
        let filter = self.find(after, "WHERE").unwrap_or(self.source.tokens.len());
        write.assignments = self.assignments(after, filter);
        write.predicate = self.columns(filter + 1);
        Some(StatementKind::Write(Box::new(write)))
    }

    fn insert_verb(&self, first: usize) -> WriteVerb {
        let pair = |a, b| (first..self.source.tokens.len()).any(|i| self.is(i, a) && self.is(i + 1, b));
        if pair("ON", "DUPLICATE") {
            WriteVerb::DuplicateKeyUpdate
        } else if pair("DO", "UPDATE") {
            WriteVerb::Upsert
        } else if pair("OR", "REPLACE") {
            WriteVerb::Replace
        } else {
            WriteVerb::Insert
        }
    }

    /// `column =` between SET and WHERE.
    fn assignments(&self, from: usize, to: usize) -> Vec<Assignment> {
        let Some(set) = self.find(from, "SET").or_else(|| self.find(from, "UPDATE")) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for at in set + 1..to {
            let starts = at == set + 1 || self.is(at - 1, ",") || self.is(at - 1, ".");
            if starts
                && self.is(at + 1, "=")
                && let Some(column) = self.name(at)
            {
                let span = self.span(at);
                let value = Expr { span, kind: ExprKind::Other(Vec::new()) };
                found.push(Assignment { column, value, span });
            }
        }
        found
    }

    /// Every name from here on, as operands of something unknown.
    fn columns(&self, from: usize) -> Option<Expr> {
        let mut list = Vec::new();
        for at in from..self.source.tokens.len() {
            if let Some(name) = self.name(at).filter(|_| !self.is(at + 1, ".") && !self.is(at + 1, "(")) {
                list.push(Expr { span: self.span(at), kind: ExprKind::Column { qualifier: None, name } });
            }
        }
        let span = list.iter().map(|e| e.span).reduce(Span::to)?;
        Some(Expr { span, kind: ExprKind::Other(list) })
    }

    fn create_table(&self) -> Option<StatementKind> {
        let (table, after) = self.table(self.find(0, "TABLE")? + 1)?;
        let open = self.find(after, "(")?;
        let mut found = CreateTable {
            table,
            columns: Vec::new(),
            primary_key: Vec::new(),
            unique: Vec::new(),
            if_not_exists: self.find(0, "EXISTS").is_some_and(|i| i < open),
            copies: None,
            from_query: false,
        };
        for (start, end) in self.items(open + 1) {
            let word = self.upper(start);
            if word == "LIKE" {
                found.copies = self.table(start + 1).map(|(table, _)| table);
                continue;
            }
            if ["CONSTRAINT", "PRIMARY", "UNIQUE", "FOREIGN", "CHECK", "KEY", "INDEX", "EXCLUDE"]
                .contains(&word.as_str())
            {
                self.table_constraint(start, end, &mut found);
                continue;
            }
            let Some(column) = self.column(start, end) else {
                continue;
            };
            if self.within(start, end, "PRIMARY") {
                found.primary_key.push(column.name.clone());
            }
            if self.within(start, end, "UNIQUE") {
                found.unique.push(UniqueColumns { name: None, columns: vec![column.name.clone()] });
            }
            found.columns.push(column);
        }
        (!found.columns.is_empty() || found.copies.is_some()).then_some(StatementKind::CreateTable(found))
    }

    fn table_constraint(&self, start: usize, end: usize, found: &mut CreateTable) {
        let Some(open) = (start..end).find(|i| self.is(*i, "(")) else {
            return;
        };
        let columns: Vec<String> =
            (open + 1..end).take_while(|i| !self.is(*i, ")")).filter_map(|i| self.name(i)).collect();
        if self.within(start, open, "PRIMARY") {
            found.primary_key = columns;
        } else if self.within(start, open, "UNIQUE") {
            found.unique.push(UniqueColumns { name: None, columns });
        }
    }

    fn within(&self, start: usize, end: usize, word: &str) -> bool {
        (start..end).any(|i| self.is(i, word))
    }

    /// The parts of a list that starts here, cut at its own commas.
    fn items(&self, from: usize) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let (mut start, mut depth) = (from, 0usize);
        for at in from..self.source.tokens.len() {
            match self.upper(at).as_str() {
                "(" => depth += 1,
                ")" if depth == 0 => {
                    found.push((start, at));
                    return found;
                }
                ")" => depth -= 1,
                "," if depth == 0 => {
                    found.push((start, at));
                    start = at + 1;
                }
                _ => {}
            }
        }
        found.push((start, self.source.tokens.len()));
        found
    }

    fn column(&self, start: usize, end: usize) -> Option<ColumnDefinition> {
        let name = self.name(start)?;
        let stops =
            ["NOT", "NULL", "DEFAULT", "PRIMARY", "UNIQUE", "REFERENCES", "CHECK", "COLLATE", "COMMENT"];
        let last = (start + 1..end).find(|i| stops.iter().any(|w| self.is(*i, w))).unwrap_or(end);
        let data_type = match (self.token(start + 1), self.token(last.checked_sub(1)?)) {
            (Some(a), Some(b)) if last > start + 1 => self.source.text.get(a.start..b.end)?.to_lowercase(),
            _ => String::new(),
        };
        let not_null = self.within(start, end, "PRIMARY")
            || (start..end).any(|i| self.is(i, "NOT") && self.is(i + 1, "NULL"));
        let default = (start..end).find(|i| self.is(*i, "DEFAULT")).and_then(|i| self.token(i + 1));
        let default = default.map(|t| t.text(self.source.text).to_owned());
        let counts_up = data_type.contains("serial")
            || ["AUTO_INCREMENT", "AUTOINCREMENT", "IDENTITY"].iter().any(|w| self.within(start, end, w));
        Some(ColumnDefinition { name, data_type, not_null, default, counts_up, span: self.span(start) })
    }

    fn alter_table(&self) -> Option<StatementKind> {
        let (table, items) = changes_of(self.source)?;
        let changes = items.into_iter().map(|(start, end)| self.change(start, end)).collect();
        Some(StatementKind::AlterTable(AlterTable { table, changes }))
    }

    fn change(&self, start: usize, end: usize) -> TableChange {
        let at = if self.is(start + 1, "COLUMN") { start + 2 } else { start + 1 };
        let at = (at..end).find(|i| !["IF", "NOT", "EXISTS"].iter().any(|w| self.is(*i, w))).unwrap_or(at);
        match self.upper(start).as_str() {
            "ADD" if !self.is(at, "CONSTRAINT") => {
                self.column(at, end).map_or(TableChange::Other, TableChange::AddColumn)
            }
            "ADD" if self.is(at + 2, "NOT") && self.is(at + 3, "NULL") => match self.name(at + 4) {
                Some(column) => TableChange::SetNotNull { column },
                None => TableChange::Other,
            },
            "DROP" if self.is(start + 1, "COLUMN") => match self.name(at) {
                Some(name) => TableChange::DropColumn { name, span: self.span(at) },
                None => TableChange::Other,
            },
            _ => TableChange::Other,
        }
    }

    fn create_index(&self) -> Option<StatementKind> {
        let index = self.find(0, "INDEX").filter(|at| *at < 4)?;
        let on = self.find(index, "ON")?;
        let mut name =
            (index + 1..on).filter(|at| !self.is_any(*at, &["CONCURRENTLY", "IF", "NOT", "EXISTS"]));
        let name = name.next_back().and_then(|at| self.name(at));
        let (table, after) = self.table(on + 1)?;
        let open = self.find(after, "(")?;
        let mut columns: Vec<String> =
            self.items(open + 1).into_iter().map(|(start, end)| self.index_column(start, end)).collect();
        if self.find(open, "WHERE").is_some() {
            columns.push("(where)".to_owned());
        }
        let unique = self.within(0, index, "UNIQUE");
        Some(StatementKind::CreateIndex { name, table, columns, unique })
    }

    /// A column's name, or an expression's text in parentheses, as the grammar's reader has it.
    fn index_column(&self, start: usize, end: usize) -> String {
        let plain = !(start..end).any(|at| self.is(at, "(") || self.is(at, "."));
        let whole = self.token(start).zip(self.token(end.saturating_sub(1)));
        let text = || whole.and_then(|(a, b)| self.source.text.get(a.start..b.end)).unwrap_or("");
        self.name(start).filter(|_| plain).unwrap_or_else(|| format!("({})", text()))
    }

    fn drop(&self) -> Option<StatementKind> {
        let mut at = 2;
        while self.is_any(at, &["CONCURRENTLY", "IF", "EXISTS"]) {
            at += 1;
        }
        let (first, mut after) = self.table(at)?;
        let mut names = vec![first];
        while self.is(after, ",") {
            let (next, behind) = self.table(after + 1)?;
            names.push(next);
            after = behind;
        }
        let table = || self.find(after, "ON").and_then(|on| self.table(on + 1)).map(|(table, _)| table);
        match self.upper(1).as_str() {
            "TABLE" => Some(StatementKind::DropTable { tables: names }),
            "INDEX" => {
                let names = names.into_iter().map(|name| name.name).collect();
                Some(StatementKind::DropIndex { names, table: table() })
            }
            "TRIGGER" => {
                let name = names.pop()?.name;
                Some(StatementKind::DropTrigger { name, table: table() })
            }
            _ => None,
        }
    }
}
