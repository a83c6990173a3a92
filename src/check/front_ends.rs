//! The seam between a run and the rooms that read languages and put facts together.
//!
//! It guards them: depth is refused before a parser sees the text, and a parser that panics costs its
//! file and not the run.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::facts::file::FileFacts;
use crate::facts::sql::Dialect;
use crate::facts::{FileId, InputProblem, Span};
use crate::sources::{DEPTH_LIMIT, FileKind, too_deep_at};
use crate::{lua, rust, sql};

/// Parses one text into facts; what cannot be read of it is said beside them.
/// SQL whose project names no dialect is read in the one that its words show.
pub(super) fn parse(
    file: FileId,
    kind: FileKind,
    dialect: Option<Dialect>,
    text: &str,
) -> (FileFacts, Vec<InputProblem>) {
    let parsed = catch_unwind(AssertUnwindSafe(|| match kind {
        FileKind::Rust => parse_rust(file, text),
        FileKind::Sql => parse_sql(file, dialect, text),
        FileKind::Lua => parse_lua(file, text),
        FileKind::Manifest | FileKind::Folder => (FileFacts::Unreadable, Vec::new()),
    }));
    parsed.unwrap_or_else(|panic| {
        let message = format!("a defect of leaselint itself stopped its parser: {}", panic_message(&*panic));
        let help = "please report it with this file; the other files are checked all the same";
        (FileFacts::Unreadable, vec![problem(file, Span::default(), message, help)])
    })
}

fn parse_rust(file: FileId, text: &str) -> (FileFacts, Vec<InputProblem>) {
    if let Some(at) = too_deep_at(text, DEPTH_LIMIT) {
        let span = at_offset(at);
        let message = "the code is nested too deeply to be parsed".to_owned();
        let help = "split the expression, or add the file to `.ignore` if it is generated";
        return (FileFacts::Unreadable, vec![problem(file, span, message, help)]);
    }
    match rust::parse(text) {
        Ok(facts) => (FileFacts::Rust(facts), Vec::new()),
        Err(error) => {
            let help = "mend the syntax; `cargo check` says more, and the file is not checked until then";
            (FileFacts::Unreadable, vec![problem(file, error.span, error.message, help)])
        }
    }
}

fn parse_sql(file: FileId, dialect: Option<Dialect>, text: &str) -> (FileFacts, Vec<InputProblem>) {
    let dialect = dialect.or_else(|| sql::guess_dialect(text)).unwrap_or(Dialect::Postgres);
    let facts = sql::parse(text, dialect);
    let help = "mend the text from there; the statements that can be read are checked";
    let problems =
        facts.problems.iter().map(|(span, reason)| problem(file, *span, reason.clone(), help)).collect();
    (FileFacts::Sql(facts, dialect), problems)
}

fn parse_lua(file: FileId, text: &str) -> (FileFacts, Vec<InputProblem>) {
    // The grammar knows no byte-order mark; white space in its place keeps all offsets true.
    let unmarked = text.strip_prefix('\u{feff}').map(|rest| format!("   {rest}"));
    let facts = lua::parse(unmarked.as_deref().unwrap_or(text));
    let problems = facts
        .problem
        .iter()
        .map(|(span, reason)| problem(file, *span, reason.clone(), "mend the syntax; `luac -p` says more"));
    let problems = problems.collect();
    (FileFacts::Lua(facts), problems)
}

fn problem(file: FileId, span: Span, message: String, help: &str) -> InputProblem {
    InputProblem { file, span, message, help: help.to_owned() }
}

fn at_offset(at: usize) -> Span {
    let at = u32::try_from(at).unwrap_or(u32::MAX);
    Span::new(at, at.saturating_add(1))
}

/// What a panic said.
pub(super) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
