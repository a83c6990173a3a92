//! Stored functions, procedures and triggers: the statements of their bodies, and whether they refuse a
//! token that is not newer.
//!
//! The procedural languages are not parsed: bodies are cut at their own keywords, and what stands between
//! IF and THEN is read as a condition.

use super::lex::{Token, TokenKind, tokens};
use super::source::Source;
use super::split::Piece;
use super::statement;
use crate::facts::sql::{
    Comparison, Expr, ExprKind, Routine, Section, Statement, StatementKind, TableName, Trigger,
};

pub(super) fn read(source: &Source<'_>) -> StatementKind {
    let head = Head { source };
    let Some(kind_at) = (0..head.len()).find(|i| head.any(*i, &["TRIGGER", "FUNCTION", "PROCEDURE"])) else {
        return super::extract::other(source);
    };
    let Some((name, after)) = head.name(kind_at + 1) else {
        return super::extract::other(source);
    };
    if head.any(kind_at, &["TRIGGER"]) {
        trigger(&head, name.name, after)
    } else {
        let parameters = head.parameters(after);
        let body = head.body(after).map(|range| Body::read(source, range, parameters)).unwrap_or_default();
        StatementKind::CreateFunction(Routine {
            name: name.name,
            is_trigger: (after..head.len())
                .any(|i| head.any(i, &["RETURNS"]) && head.any(i + 1, &["TRIGGER"])),
            body: body.statements,
            refuses_stale: body.refuses,
            tolerates_equal: body.tolerates,
            advances: body.advances,
        })
    }
}

/// The statements of `DO $$ … $$`, which run where they stand.
pub(super) fn block(source: &Source<'_>, section: Section) -> Vec<Statement> {
    let Some((start, end)) = (Head { source }).body(0) else { return Vec::new() };
    let list = tokens(source.text, start, end, source.dialect);
    let mut body = Body::default();
    body.statements(source, &list, &[DML, DDL].concat());
    for statement in &mut body.statements {
        statement.section = section;
    }
    body.statements
}

fn trigger(head: &Head<'_>, name: String, after: usize) -> StatementKind {
    let source = head.source;
    let Some(on) = head.find(after, "ON") else {
        return super::extract::other(source);
    };
    let Some((table, after_table)) = head.name(on + 1) else {
        return super::extract::other(source);
    };
    let of_columns = match head.find(after, "OF").filter(|i| *i < on && head.any(i - 1, &["UPDATE"])) {
        Some(of) => (of + 1..on)
            .filter(|i| !head.any(*i, &["OR", "INSERT", "DELETE", ","]))
            .filter_map(|i| head.text(i))
            .collect(),
        None => Vec::new(),
    };
    let execute = head.find(after_table, "EXECUTE");
    let function = execute.and_then(|i| head.name(i + 2)).map(|(n, _)| n.name);
    let range = if execute.is_some() { None } else { head.body(after_table) };
    let mut body = range.map(|range| Body::read(source, range, Vec::new())).unwrap_or_default();
    let refuses = range.is_none() || Body::raises(source, range);
    let body_at = head.find(after_table, "BEGIN").or(execute).unwrap_or(head.len());
    if let Some(when) = head.find(after_table, "WHEN").filter(|w| *w < body_at && refuses)
        && let (Some(first), Some(last)) = (head.token(when + 1), head.token(body_at.saturating_sub(1)))
    {
        body.refuse_when(source, first.start, last.end);
    }
    let own = |s: &Statement| match &s.kind {
        StatementKind::Write(w) if w.table.name.eq_ignore_ascii_case(&table.name) => {
            w.assignments.iter().map(|a| a.column.clone()).collect()
        }
        _ => Vec::new(),
    };
    let updated: Vec<String> = body.statements.iter().flat_map(own).collect();
    body.advances.extend(updated);
    StatementKind::CreateTrigger(Trigger {
        name,
        table,
        before_update: (after..on).any(|i| head.any(i, &["UPDATE"])),
        of_columns,
        function,
        refuses_stale: body.refuses,
        tolerates_equal: body.tolerates,
        advances: body.advances,
        body: body.statements,
    })
}

struct Head<'a> {
    source: &'a Source<'a>,
}

impl Head<'_> {
    fn len(&self) -> usize {
        self.source.tokens.len()
    }

    fn token(&self, at: usize) -> Option<&Token> {
        self.source.tokens.get(at)
    }

    fn any(&self, at: usize, words: &[&str]) -> bool {
        self.token(at).is_some_and(|t| words.iter().any(|w| t.is(self.source.text, w)))
    }

    fn find(&self, from: usize, word: &str) -> Option<usize> {
        (from..self.len()).find(|i| self.any(*i, &[word]))
    }

    fn text(&self, at: usize) -> Option<String> {
        let token = self.token(at)?;
        let text = token.text(self.source.text);
        match token.kind {
            TokenKind::Word => Some(text.to_owned()),
            TokenKind::QuotedName => text.get(1..text.len().saturating_sub(1)).map(str::to_owned),
            _ => None,
        }
    }

    fn name(&self, mut at: usize) -> Option<(TableName, usize)> {
        while self.any(at, &["IF", "NOT", "EXISTS", "ONLY"]) {
            at += 1;
        }
        if self.token(at).is_some_and(|t| t.kind == TokenKind::Placeholder) {
            // psql's `:SCHEMA.name`
            at += 1;
            if self.any(at, &["."]) {
                at += 1;
            }
        }
        let mut parts = vec![self.text(at)?];
        at += 1;
        while self.any(at, &["."]) {
            parts.push(self.text(at + 1)?);
            at += 2;
        }
        let name = parts.pop()?;
        Some((TableName { schema: parts.pop(), name }, at))
    }

    /// The names in the parentheses behind the routine's name.
    fn parameters(&self, open: usize) -> Vec<String> {
        let mut found = Vec::new();
        let (mut depth, mut starts) = (0usize, false);
        for at in open..self.len() {
            match self.token(at).map_or("", |t| t.text(self.source.text)) {
                "(" => {
                    depth += 1;
                    starts |= depth == 1;
                    continue;
                }
                ")" if depth <= 1 => break,
                ")" => depth -= 1,
                "," if depth == 1 => {
                    starts = true;
                    continue;
                }
                _ if depth == 0 => break,
                _ => {}
            }
            if starts && !self.any(at, &["IN", "OUT", "INOUT", "VARIADIC"]) {
                // A type alone is a parameter without a name.
                let named = self.text(at + 1).is_some();
                found.extend(self.text(at).filter(|_| named));
                starts = false;
            }
        }
        found
    }

    /// The bytes of the body: inside the dollars, from the first BEGIN, or the one statement behind
    /// `FOR EACH ROW`.
    fn body(&self, from: usize) -> Option<(usize, usize)> {
        let text = self.source.text;
        if let Some(dollar) = self.source.tokens.iter().find(|t| t.kind == TokenKind::DollarText) {
            let tag = dollar.text(text)[1..].find('$')? + 2;
            let end = if dollar.unterminated { dollar.end } else { dollar.end - tag };
            return Some((dollar.start + tag, end.max(dollar.start + tag)));
        }
        let begin = self.find(from, "BEGIN").or_else(|| self.find(from, "ROW").map(|i| i + 1))?;
        Some((self.token(begin)?.start, self.source.end()))
    }
}

/// More conditions than this in one body, or longer ones, are not of a person's making; looking at each
/// costs as much as the rest of the body.
const MOST_CONDITIONS: usize = 200;
const LONGEST_CONDITION: usize = 4096;

#[derive(Default)]
struct Body {
    /// Conditions looked at so far.
    conditions: usize,
    /// Parameters and local variables.
    variables: Vec<String>,
    statements: Vec<Statement>,
    refuses: Vec<String>,
    tolerates: Vec<String>,
    advances: Vec<String>,
}

const DML: &[&str] = &["UPDATE", "DELETE", "INSERT", "MERGE", "REPLACE", "WITH", "SELECT", "PERFORM"];
const DDL: &[&str] = &["CREATE", "ALTER", "DROP"];
/// After these words, or a semicolon, a statement may start.
const BEFORE: &[&str] = &["BEGIN", "THEN", "ELSE", "LOOP", "DO", "ROW", "QUERY", "ATOMIC", "IN"];

impl Body {
    fn read(source: &Source<'_>, (start, end): (usize, usize), mut variables: Vec<String>) -> Self {
        let list = tokens(source.text, start, end, source.dialect);
        declared(source.text, &list, &mut variables);
        let mut body = Self { variables, ..Self::default() };
        body.statements(source, &list, DML);
        body.branches(source, &list);
        body.raise_calls(source, &list);
        body.assignments(source.text, &list);
        body
    }

    fn statements(&mut self, source: &Source<'_>, list: &[Token], verbs: &[&str]) {
        let text = source.text;
        let mut at = 0;
        while at < list.len() {
            let opens =
                at == 0 || list[at - 1].is(text, ";") || BEFORE.iter().any(|w| list[at - 1].is(text, w));
            let starts = opens && verbs.iter().any(|w| list[at].is(text, w));
            if !starts {
                at += 1;
                continue;
            }
            let end = (at..list.len()).find(|i| list[*i].is(text, ";") || list[*i].is(text, "LOOP"));
            let end = end.unwrap_or(list.len());
            let piece = Piece { start: list[at].start, end: list[end - 1].end, section: Section::Up };
            let found = statement::read_in_routine(text, piece, source.dialect, &self.variables);
            if !matches!(found.kind, StatementKind::Other { .. }) {
                self.statements.push(found);
            }
            at = end;
        }
    }

    /// `IF condition THEN RAISE …`
    fn branches(&mut self, source: &Source<'_>, list: &[Token]) {
        let text = source.text;
        let opens = |at: &usize| {
            ["IF", "ELSIF", "ELSEIF"].iter().any(|w| list[*at].is(text, w))
                && (*at == 0 || !list[*at - 1].is(text, "END"))
        };
        for at in (0..list.len()).filter(opens).take(MOST_CONDITIONS) {
            let Some(then) = (at..list.len()).find(|i| list[*i].is(text, "THEN")) else {
                return;
            };
            let stops = ["ELSIF", "ELSEIF", "ELSE", "END"];
            let end =
                (then..list.len()).find(|i| stops.iter().any(|w| list[*i].is(text, w))).unwrap_or(list.len());
            if then > at + 1 && gives_up(text, &list[then + 1..end]) {
                self.refuse_when(source, list[at + 1].start, list[then - 1].end);
            }
        }
    }

    /// SQLite: `SELECT RAISE(…) WHERE condition`, `SELECT CASE WHEN condition THEN RAISE(…) END`.
    fn raise_calls(&mut self, source: &Source<'_>, list: &[Token]) {
        let text = source.text;
        let raises =
            |at: &usize| list[*at].is(text, "RAISE") && list.get(*at + 1).is_some_and(|t| t.is(text, "("));
        for at in (0..list.len()).filter(raises).take(MOST_CONDITIONS) {
            let from = (0..at).rev().find(|i| list[*i].is(text, ";") || list[*i].is(text, "WHEN"));
            if let Some(when) = from.filter(|i| list[*i].is(text, "WHEN"))
                && at > when + 2
                && list[at - 1].is(text, "THEN")
            {
                self.refuse_when(source, list[when + 1].start, list[at - 2].end);
            }
            let end = (at..list.len()).find(|i| list[*i].is(text, ";")).unwrap_or(list.len());
            if let Some(filter) = (at..end).find(|i| list[*i].is(text, "WHERE")).filter(|f| end > f + 1) {
                self.refuse_when(source, list[filter + 1].start, list[end - 1].end);
            }
        }
    }

    fn raises(source: &Source<'_>, range: Option<(usize, usize)>) -> bool {
        range.is_some_and(|(start, end)| {
            gives_up(source.text, &tokens(source.text, start, end, source.dialect))
        })
    }

    fn refuse_when(&mut self, source: &Source<'_>, start: usize, end: usize) {
        self.conditions += 1;
        if self.conditions > MOST_CONDITIONS || end.saturating_sub(start) > LONGEST_CONDITION {
            return;
        }
        let part = Source::new(source.text, start, end.max(start), source.dialect);
        let Some(condition) = statement::condition(&part) else {
            return;
        };
        let mut found = Vec::new();
        stale_columns(&condition, false, &mut found);
        for (column, tolerates_equal) in found {
            if tolerates_equal {
                self.tolerates.push(column.clone());
            }
            self.refuses.push(column);
        }
    }

    /// `NEW.c := …`, `SET NEW.c = …`
    fn assignments(&mut self, text: &str, list: &[Token]) {
        for at in 0..list.len().saturating_sub(3) {
            let is_new = list[at].is(text, "NEW") && list[at + 1].is(text, ".");
            let assigns = list[at + 3].text(text) == ":=" || list[at + 3].is(text, "=");
            let opens = at > 0
                && (["BEGIN", "THEN", "ELSE", "SET", ";", ","].iter().any(|w| list[at - 1].is(text, w)));
            if is_new && assigns && opens {
                self.advances.push(list[at + 2].text(text).to_owned());
            }
        }
    }
}

/// Variables of `DECLARE`, before a BEGIN or one by one.
fn declared(text: &str, list: &[Token], found: &mut Vec<String>) {
    let mut declares = false;
    for (at, token) in list.iter().enumerate() {
        if token.is(text, "DECLARE") {
            declares = true;
        } else if token.is(text, "BEGIN") || DML.iter().any(|w| token.is(text, w)) {
            declares = false;
        } else if declares
            && token.kind == TokenKind::Word
            && at.checked_sub(1).is_some_and(|i| list[i].is(text, "DECLARE") || list[i].is(text, ";"))
        {
            found.push(token.text(text).to_owned());
        }
    }
}

/// Whether these tokens raise an error or drop the row.
fn gives_up(text: &str, list: &[Token]) -> bool {
    let milder = ["NOTICE", "WARNING", "INFO", "LOG", "DEBUG"];
    list.iter().enumerate().any(|(at, token)| {
        let next = list.get(at + 1);
        let next_is = |words: &[&str]| next.is_some_and(|n| words.iter().any(|w| n.is(text, w)));
        (token.is(text, "RAISE") && !next_is(&milder))
            || token.is(text, "SIGNAL")
            || token.is(text, "RESIGNAL")
            || (token.is(text, "RETURN") && next_is(&["NULL", "OLD"]))
    })
}

/// The columns for which the condition holds whenever the new value is lower than the old one; with each
/// whether it leaves an equal value alone.
fn stale_columns(condition: &Expr, negated: bool, found: &mut Vec<(String, bool)>) {
    match &condition.kind {
        ExprKind::And(list) | ExprKind::Or(list) => {
            let all_must_hold = matches!(condition.kind, ExprKind::And(_)) != negated;
            let before = found.len();
            for part in list {
                let so_far = found.len();
                stale_columns(part, negated, found);
                if all_must_hold && found.len() == so_far && !holds_for_writes(part) {
                    found.truncate(before);
                    return;
                }
            }
        }
        ExprKind::Not(inner) => stale_columns(inner, !negated, found),
        ExprKind::Compare { operator, left, right } => {
            let (Some(l), Some(r)) = (row_column(left), row_column(right)) else {
                return;
            };
            if !l.1.eq_ignore_ascii_case(r.1) || l.0 == r.0 {
                return;
            }
            // Read as NEW op OLD.
            let operator = if l.0 { *operator } else { operator.mirrored() };
            match (operator, negated) {
                (Comparison::Less, false) | (Comparison::GreaterOrEqual, true) => {
                    found.push((l.1.to_owned(), true))
                }
                (Comparison::LessOrEqual, false) | (Comparison::Greater, true) => {
                    found.push((l.1.to_owned(), false))
                }
                // `NEW.v <> OLD.v + 1`: nothing but the successor passes.
                (Comparison::NotEqual, false) if l.2 || r.2 => found.push((l.1.to_owned(), false)),
                _ => {}
            }
        }
        _ => {}
    }
}

/// Conditions that any write of a stale holder meets: that something changes, that a value is there, that it
/// is an update.
fn holds_for_writes(condition: &Expr) -> bool {
    match &condition.kind {
        ExprKind::NullTest { .. } => true,
        ExprKind::Compare { operator: Comparison::NotEqual, left, right } => {
            row_column(left).is_some() && row_column(right).is_some()
        }
        ExprKind::Compare { left, .. } => {
            matches!(&left.kind, ExprKind::Column { name, .. } if name.eq_ignore_ascii_case("tg_op"))
        }
        _ => false,
    }
}

/// (is NEW, column, with something added)
fn row_column(e: &Expr) -> Option<(bool, &str, bool)> {
    match &e.kind {
        ExprKind::Column { qualifier: Some(q), name } if q.eq_ignore_ascii_case("new") => {
            Some((true, name, false))
        }
        ExprKind::Column { qualifier: Some(q), name } if q.eq_ignore_ascii_case("old") => {
            Some((false, name, false))
        }
        ExprKind::Call { name, args } if name == "coalesce" || name == "ifnull" => {
            args.first().and_then(row_column)
        }
        ExprKind::Cast { operand, .. } => row_column(operand),
        ExprKind::Arithmetic { operator: '+', left, .. } => {
            row_column(left).map(|(new, c, _)| (new, c, true))
        }
        _ => None,
    }
}
