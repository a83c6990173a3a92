//! Texts put together: `format!` and its like, `concat!`, `include_str!`, `push_str`.

use std::rc::Rc;

use crate::facts::Span;
use crate::facts::rust::{Expr, MacroCall};

use super::Frame;
use crate::resolve::value::{Form, Piece, Symbol, Value, Written};

/// Longer texts are cut; no key and no statement that matters is longer.
const MAX_PIECES: usize = 256;

impl Frame<'_, '_> {
    /// The value of a macro that makes a text; `None` for other macros.
    pub(super) fn formatted(&mut self, name: &str, call: &MacroCall) -> Option<Value> {
        match name {
            "format" | "format_compact" | "formatdoc" | "format_args" | "format_smolstr" | "alloc_format" => {
                let template = self.expr(call.args.first()?);
                Some(self.filled(&template, &call.args[1..], &call.named))
            }
            "write" | "writeln" => self.written_into(call),
            "concat" => {
                let parts: Vec<Value> = call.args.iter().map(|arg| self.expr(arg)).collect();
                Some(parts.iter().fold(Value::text(""), |all, part| joined(&all, part)))
            }
            "stringify" => Some(Value::text("")),
            "indoc" | "const_str" | "const_format" | "cformat" | "formatcp" | "concatcp" => {
                let first = self.expr(call.args.first()?);
                Some(self.filled(&first, &call.args[1..], &call.named))
            }
            "include_str" => {
                let path = self.expr(call.args.first()?).as_text()?;
                Some(self.included(&path).unwrap_or_default())
            }
            _ => None,
        }
    }

    /// `write!(text, "…", …)` into a variable that holds a text.
    fn written_into(&mut self, call: &MacroCall) -> Option<Value> {
        let [target, template, args @ ..] = call.args.as_slice() else { return None };
        let template = self.expr(template);
        let more = self.filled(&template, args, &call.named);
        let before = self.expr(target);
        if self.displays && is_formatter(&before) {
            return Some(more);
        }
        if matches!(before.form, Form::Text(_)) {
            self.store_builder(target, &joined(&before, &more));
        }
        Some(Value::unknown())
    }

    /// The text that a type of the workspace shows itself as.
    pub(super) fn displayed(&mut self, value: &Value) -> Option<Value> {
        let ty = value.ty.as_ref().filter(|_| !matches!(value.form, Form::Text(_)))?;
        let methods = self.eval.program.methods(self.scope, ty, "fmt");
        let mut shows = methods.into_iter().filter(|&method| {
            self.eval.program.functions[method].function.implements.as_deref() == Some("Display")
        });
        let method = shows.next().filter(|_| shows.next().is_none())?;
        self.eval.ensure_trace(method);
        let shown = self.instantiate(Span::default(), method, &[Value::unknown()], Some(value.clone()));
        matches!(shown.form, Form::Text(_) | Form::Selected(_)).then(|| shown.with_flows(&value.flows))
    }

    /// `formatter.write_str(text)` in an implementation of `Display`.
    pub(super) fn written_to_formatter(&self, object: &Value, method: &str, args: &[Value]) -> Option<Value> {
        let writes = matches!(method, "write_str" | "pad");
        (writes && self.displays && is_formatter(object)).then(|| args.first().cloned().unwrap_or_default())
    }

    /// A text file included from beside the source file.
    fn included(&self, path: &str) -> Option<Value> {
        let here = self.eval.program.units[self.scope.unit].path;
        let folder = here.rsplit_once('/').map_or("", |(folder, _)| folder);
        let (file, text) = self.eval.texts.text(&normal_path(folder, path))?;
        Some(file_text(file, text))
    }

    fn filled(&mut self, template: &Value, args: &[Expr], named: &[(String, Expr)]) -> Value {
        let args: Vec<Value> = args.iter().map(|arg| self.expr(arg)).collect();
        let named: Vec<(String, Value)> =
            named.iter().map(|(name, arg)| (name.clone(), self.expr(arg))).collect();
        let mut pieces = Vec::new();
        let mut next = 0;
        for piece in template.pieces() {
            let Piece::Text { text, written } = piece else {
                pieces.push(piece);
                continue;
            };
            for part in split_template(&text) {
                match part {
                    Part::Text { from, text } => {
                        pieces.push(Piece::Text {
                            text: text.into(),
                            written: shifted(written.as_ref(), from),
                        });
                    }
                    Part::Hole(hole) => {
                        let value = self.hole(hole, &args, &named, &mut next);
                        let value = self.displayed(&value).unwrap_or(value);
                        pieces.extend(value.pieces());
                    }
                }
            }
        }
        pieces.truncate(MAX_PIECES);
        Value::new(Form::Text(pieces.into()))
    }

    fn hole(&mut self, hole: &str, args: &[Value], named: &[(String, Value)], next: &mut usize) -> Value {
        let name = hole.split(':').next().unwrap_or("").trim();
        if name.is_empty() {
            *next += 1;
            return args.get(*next - 1).cloned().unwrap_or_default();
        }
        if let Ok(index) = name.parse::<usize>() {
            return args.get(index).cloned().unwrap_or_default();
        }
        if let Some((_, value)) = named.iter().find(|(given, _)| given == name) {
            return value.clone();
        }
        let known = self.local(name).cloned();
        let constant = || Value::symbol(Symbol::Call(name.into()));
        known.unwrap_or_else(|| {
            let path = [name.to_owned()];
            let value = self.eval_path(&path);
            if matches!(value.form, Form::Unknown) { constant() } else { value }
        })
    }

    fn eval_path(&mut self, path: &[String]) -> Value {
        let expr = Expr { span: Default::default(), kind: crate::facts::rust::ExprKind::Path(path.to_vec()) };
        self.expr(&expr)
    }
}

fn is_formatter(value: &Value) -> bool {
    value.ty.as_ref().is_some_and(|ty| ty.name() == "Formatter")
}

/// The content of a file as a text.
pub(super) fn file_text(file: crate::facts::FileId, text: Rc<str>) -> Value {
    let written = Written { file, map: crate::facts::TextMap::verbatim(0) };
    Value::new(Form::Text(Rc::new([Piece::Text { text, written: Some(Rc::new(written)) }])))
}

/// Two texts, one behind the other.
pub(super) fn joined(first: &Value, second: &Value) -> Value {
    let mut pieces = first.pieces();
    pieces.extend(second.pieces());
    pieces.retain(|piece| !matches!(piece, Piece::Text { text, .. } if text.is_empty()));
    pieces.truncate(MAX_PIECES);
    Value::new(Form::Text(pieces.into()))
}

/// `folder` and a relative path, with `.` and `..` worked off.
pub(in crate::resolve) fn normal_path(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = if path.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| !last.is_empty() && *last != "..") => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    parts.retain(|part| !part.is_empty());
    let joined = parts.join("/");
    if path.starts_with('/') || folder.starts_with('/') { format!("/{joined}") } else { joined }
}

enum Part<'t> {
    Text { from: u32, text: String },
    Hole(&'t str),
}

/// Splits a format text at its holes; doubled braces become single ones.
fn split_template(template: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut from = 0;
    let mut rest = template;
    let offset = |rest: &str| (template.len() - rest.len()) as u32;
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        let tail = &rest[at..];
        if tail.starts_with("{{") || tail.starts_with("}}") {
            // The text behind a doubled brace stands one byte later in the source than in the value.
            text.push_str(&tail[..1]);
            parts.push(Part::Text { from, text: std::mem::take(&mut text) });
            rest = &tail[2..];
            from = offset(rest);
            continue;
        }
        let Some(end) = tail.find('}') else {
            text.push_str(tail);
            rest = "";
            break;
        };
        if !text.is_empty() {
            parts.push(Part::Text { from, text: std::mem::take(&mut text) });
        }
        if tail.starts_with('{') {
            parts.push(Part::Hole(&tail[1..end]));
        }
        rest = &tail[end + 1..];
        from = offset(rest);
    }
    text.push_str(rest);
    if !text.is_empty() {
        parts.push(Part::Text { from, text });
    }
    parts
}

fn shifted(written: Option<&Rc<Written>>, from: u32) -> Option<Rc<Written>> {
    let written = written?;
    Some(Rc::new(Written { file: written.file, map: written.map.behind(from) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_beside_a_file() {
        assert_eq!(normal_path("src", "release.lua"), "src/release.lua");
        assert_eq!(normal_path("src/a", "../sql/./x.sql"), "src/sql/x.sql");
        assert_eq!(normal_path("", "../x.sql"), "../x.sql");
        assert_eq!(normal_path("/tmp/a", "b.sql"), "/tmp/a/b.sql");
    }

    #[test]
    fn templates_are_split_at_their_holes() {
        let parts: Vec<String> = split_template("a{{b}}{x:?}c{}")
            .iter()
            .map(|part| match part {
                Part::Text { text, .. } => text.clone(),
                Part::Hole(hole) => format!("<{hole}>"),
            })
            .collect();
        assert_eq!(parts.concat(), "a{b}<x:?>c<>");
    }
}
