//! How values become bytes: JSON without raw controls, and text that XML takes.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde::Serialize;

use super::sanitize;

/// Writes a value as JSON over several lines, and a line break.
pub(super) fn pretty_json(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string_pretty(value).map_err(io::Error::other)?;
    writeln!(out, "{}", escaped(&text))
}

/// Writes a value as one line of JSON.
pub(super) fn json_line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string(value).map_err(io::Error::other)?;
    writeln!(out, "{}", escaped(&text))
}

/// Controls that JSON itself lets through become escapes; they can stand in strings only.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if sanitize::is_control(c) || c == '\u{7f}' {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Text of one line for an attribute's value or an element's content.
pub(super) fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in sanitize::line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            // No document may hold these two.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
