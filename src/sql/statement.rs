//! Reads one statement: the text's own dialect first, then the others, then with repairs, and at last
//! from its words alone.

use sqlparser::ast;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Tokenizer;

use super::convert::Converter;
use super::lex::{Lexer, Token, TokenKind};
use super::source::Source;
use super::split::Piece;
use super::{breaks, convert, dialect, extract, items, repair, routine, rows};
use crate::facts::reading::Reading;
use crate::facts::sql::{Dialect, SqlText, Statement, StatementKind};

/// Plain rows of data above this size are not parsed: they can hold no predicate.
const LARGE: usize = 64 * 1024;
/// The parser builds one level of its tree for each operator of a chain, and dropping a tree recurses.
const LONGEST_CHAIN: usize = 1000;
const DEEPEST: usize = 100;
/// Words between two commas; only generated text has more.
const LONGEST_ITEM: usize = 6000;
/// So many semicolons may be missing behind each other.
const MOST_CUTS: usize = 16;

/// Reads the statement, or those of a `DO` block, and says what of it is broken.
pub(super) fn read_all(text: &str, piece: Piece, dialect: Dialect, found: &mut SqlText) {
    let mut words = Lexer::within(text, piece.start, piece.end, dialect);
    if words.find(|t| t.kind != TokenKind::Comment).is_some_and(|t| t.is(text, "DO")) {
        let source = Source::new(text, piece.start, piece.end, dialect);
        let inside = routine::block(&source, piece.section);
        if !inside.is_empty() {
            return found.statements.extend(inside);
        }
    }
    let mut rest = piece;
    for _ in 0..MOST_CUTS {
        let statement = read(text, rest, dialect);
        if statement.reading() == Reading::Parsed {
            return found.statements.push(statement);
        }
        let source = Source::new(text, rest.start, rest.end, dialect);
        let Some((first, next)) = breaks::without_semicolon(&source, rest) else {
            found.problems.extend(breaks::of(&source, &statement));
            return found.statements.push(statement);
        };
        found.problems.push((breaks::end_of(first), "a statement without its semicolon".to_owned()));
        found.statements.push(read(text, first, dialect));
        rest = next;
    }
    found.statements.push(read(text, rest, dialect));
}

pub(super) fn read(text: &str, piece: Piece, dialect: Dialect) -> Statement {
    read_in_routine(text, piece, dialect, &[])
}

/// In a routine's body a name may be a variable: a value from outside, as a parameter of a statement is.
pub(super) fn read_in_routine(text: &str, piece: Piece, dialect: Dialect, variables: &[String]) -> Statement {
    let span = crate::facts::Span::new(super::source::offset(piece.start), super::source::offset(piece.end));
    let (kind, parsed) = match rows::read(text, piece, dialect) {
        Some(rows) => (rows, true),
        None => by_grammar(text, piece, dialect, variables),
    };
    Statement { span, section: piece.section, parsed, kind }
}

/// What the statement is, and whether the grammar says so.
pub(super) fn by_grammar(
    text: &str,
    piece: Piece,
    dialect: Dialect,
    variables: &[String],
) -> (StatementKind, bool) {
    if piece.end - piece.start > LARGE && is_plain_data(text, piece, dialect) {
        let head = (piece.start + 4096).min(piece.end);
        let head = (head..piece.end).find(|i| text.is_char_boundary(*i)).unwrap_or(piece.end);
        return (extract::extract(&Source::new(text, piece.start, head, dialect)), false);
    }
    let mut source = Source::new(text, piece.start, piece.end, dialect);
    source.fill_variables(variables);
    match shape(&source) {
        Shape::Routine => (routine::read(&source), true),
        Shape::Irrelevant => (extract::other(&source), true),
        Shape::Unknown => (extract::other(&source), false),
        Shape::Relevant if is_too_deep(&source) => (extract::extract(&source), false),
        Shape::Relevant => match parse(&mut source) {
            Some(kind) => (kind, true),
            None => (items::alter_table(&mut source).unwrap_or_else(|| extract::extract(&source)), false),
        },
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Relevant,
    Routine,
    /// A statement that concerns no row and no table of ours.
    Irrelevant,
    /// It begins with no word that begins a statement.
    Unknown,
}

/// What the other statements of the three databases begin with.
const OTHER_VERBS: &[&str] = &[
    "ABORT",
    "ALTER",
    "ANALYSE",
    "ANALYZE",
    "ATTACH",
    "BEGIN",
    "CALL",
    "CHECK",
    "CHECKPOINT",
    "CHECKSUM",
    "CLOSE",
    "CLUSTER",
    "COMMENT",
    "COMMIT",
    "COPY",
    "CREATE",
    "DEALLOCATE",
    "DECLARE",
    "DESC",
    "DESCRIBE",
    "DETACH",
    "DISCARD",
    "DO",
    "DROP",
    "END",
    "EXECUTE",
    "EXPLAIN",
    "FETCH",
    "FLUSH",
    "GRANT",
    "HANDLER",
    "HELP",
    "IMPORT",
    "INSTALL",
    "KILL",
    "LISTEN",
    "LOAD",
    "LOCK",
    "MOVE",
    "NOTIFY",
    "OPTIMIZE",
    "PRAGMA",
    "PREPARE",
    "PURGE",
    "REASSIGN",
    "REFRESH",
    "REINDEX",
    "RELEASE",
    "RENAME",
    "REPAIR",
    "RESET",
    "RESIGNAL",
    "RESTART",
    "REVOKE",
    "ROLLBACK",
    "SAVEPOINT",
    "SECURITY",
    "SET",
    "SHOW",
    "SHUTDOWN",
    "SIGNAL",
    "START",
    "STOP",
    "TABLE",
    "TRUNCATE",
    "UNINSTALL",
    "UNLISTEN",
    "UNLOCK",
    "USE",
    "VACUUM",
    "VALUES",
    "XA",
];

pub(super) fn shape(source: &Source<'_>) -> Shape {
    let words: Vec<String> = source
        .tokens
        .iter()
        .skip_while(|t| t.text(source.text) == "(")
        .take_while(|t| t.kind == TokenKind::Word)
        .take(8)
        .map(|t| t.text(source.text).to_ascii_uppercase())
        .collect();
    let has = |w: &str| words.iter().any(|x| x == w);
    match words.first().map_or("", String::as_str) {
        "WITH" | "SELECT" | "UPDATE" | "DELETE" | "INSERT" | "REPLACE" | "MERGE" => Shape::Relevant,
        "PERFORM" => Shape::Relevant,
        "CREATE" if has("TABLE") || has("INDEX") => Shape::Relevant,
        "CREATE" if has("TRIGGER") || has("FUNCTION") || has("PROCEDURE") => Shape::Routine,
        "DROP" if has("INDEX") => Shape::Relevant,
        "ALTER" | "DROP" if has("TABLE") || has("TRIGGER") => Shape::Relevant,
        "RENAME" if has("TABLE") => Shape::Relevant,
        verb if OTHER_VERBS.contains(&verb) => Shape::Irrelevant,
        _ => Shape::Unknown,
    }
}

/// Rows for an INSERT and nothing that could change a row that is there.
fn is_plain_data(text: &str, piece: Piece, dialect: Dialect) -> bool {
    let mut words =
        Lexer::within(text, piece.start, piece.end, dialect).filter(|t| t.kind == TokenKind::Word);
    words.next().is_some_and(|t| t.is(text, "INSERT"))
        && !words
            .any(|t| ["CONFLICT", "DUPLICATE", "SELECT", "REPLACE", "WITH"].iter().any(|w| t.is(text, w)))
}

pub(super) fn is_too_deep(source: &Source<'_>) -> bool {
    // For each open parenthesis: operators and words since its last comma.
    let mut outer: Vec<(usize, usize)> = Vec::new();
    let mut level = (0usize, 0usize);
    let mut unions = 0;
    for token in &source.tokens {
        let word = token.text(source.text);
        level.1 += 1;
        match word {
            "(" | "[" => outer.push(std::mem::take(&mut level)),
            ")" | "]" => level = outer.pop().unwrap_or(level),
            "," => level = (0, 0),
            _ if joins(token, word) => level.0 += 1,
            _ if ["UNION", "EXCEPT", "INTERSECT"].iter().any(|w| token.is(source.text, w)) => unions += 1,
            _ => {}
        }
        if level.0 > LONGEST_CHAIN
            || level.1 > LONGEST_ITEM
            || outer.len() > DEEPEST
            || unions > LONGEST_CHAIN / 5
        {
            return true;
        }
    }
    false
}

fn joins(token: &Token, word: &str) -> bool {
    match token.kind {
        TokenKind::Symbol => !matches!(word, "." | ";" | "@"),
        TokenKind::Word => {
            ["AND", "OR", "IS", "XOR", "LIKE", "COLLATE"].iter().any(|w| word.eq_ignore_ascii_case(w))
        }
        _ => false,
    }
}

fn parse(source: &mut Source<'_>) -> Option<StatementKind> {
    perform_is_select(source);
    let found = match by_any_grammar(source) {
        Some(found) => found,
        None if repair::repair(source) => by_any_grammar(source)?,
        None => return None,
    };
    convert::statement(&Converter::new(source), &found)
}

/// `PERFORM x` of PL/pgSQL is a SELECT whose rows nobody wants.
fn perform_is_select(source: &mut Source<'_>) {
    let Some(first) = source.tokens.first().copied().filter(|t| t.is(source.text, "PERFORM")) else { return };
    let at = first.start - source.base;
    if let Some(word) = source.masked.get_mut(at..at + 7) {
        word.copy_from_slice(b"SELECT ");
    }
}

/// The tree of the text as it is masked now.
pub(super) fn by_any_grammar(source: &Source<'_>) -> Option<ast::Statement> {
    dialects(source).find_map(|dialect| grammar(source, dialect))
}

/// All dialects, or the first two where each attempt costs much.
fn dialects(source: &Source<'_>) -> impl Iterator<Item = Dialect> + use<> {
    let most = if source.masked.len() > LARGE { 2 } else { 4 };
    dialect::order(source.dialect).into_iter().take(most)
}

fn grammar(source: &Source<'_>, dialect: Dialect) -> Option<ast::Statement> {
    let grammar = dialect::grammar(dialect);
    let tokens = Tokenizer::new(grammar, source.sql()).tokenize_with_location().ok()?;
    let mut statements = Parser::new(grammar).with_tokens_with_locations(tokens).parse_statements().ok()?;
    if statements.len() == 1 { statements.pop() } else { None }
}

/// Parses a lone condition, such as that of an IF in a stored routine.
pub(super) fn condition(source: &Source<'_>) -> Option<crate::facts::sql::Expr> {
    if is_too_deep(source) {
        return None;
    }
    dialect::order(source.dialect).into_iter().find_map(|d| {
        let grammar = dialect::grammar(d);
        let tokens = Tokenizer::new(grammar, source.sql()).tokenize_with_location().ok()?;
        let mut parser = Parser::new(grammar).with_tokens_with_locations(tokens);
        let expr = parser.parse_expr().ok()?;
        Some(Converter::new(source).expr(&expr))
    })
}
