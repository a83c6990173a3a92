//! Statements that code wraps or rewrites before it runs them: newtypes that vouch for a text, and own
//! functions that put it into another dialect. Which function runs them is not its concern.

use crate::facts::rust::Type;

use super::query::is_sql;
use crate::resolve::value::{Form, Piece, Value};

/// Types of a text.
const TEXTS: &[&str] = &["String", "str", "Cow", "SqlStr", "SmolStr"];

/// `AssertSqlSafe(text)` is that text.
pub(super) fn wrapped(path: &[String], args: &[Value]) -> Option<Value> {
    let is_type = path.last()?.chars().next().is_some_and(char::is_uppercase);
    if is_type && args.len() == 1 { statement(args) } else { None }
}

/// A function whose body does not show what it makes of a statement, and that gives a text back, gives
/// that statement back in another form: `sql(UPDATE_JOB)` with `$1` turned into `?`.
pub(super) fn rewritten(result: &Value, written: Option<&Type>, args: &[Value]) -> Option<Value> {
    let gives_text = written.is_some_and(|ty| TEXTS.contains(&ty.name()));
    if gives_text && is_blank(result) { statement(args) } else { None }
}

/// The only statement among the arguments.
fn statement(args: &[Value]) -> Option<Value> {
    let mut found = args.iter().filter(|arg| matches!(arg.form, Form::Text(_)) && is_sql(arg));
    let only = found.next()?;
    found.next().is_none().then(|| only.clone())
}

fn is_blank(value: &Value) -> bool {
    match &value.form {
        Form::Unknown => true,
        Form::Text(pieces) => {
            pieces.iter().all(|piece| !matches!(piece, Piece::Text { text, .. } if !text.is_empty()))
        }
        _ => false,
    }
}
