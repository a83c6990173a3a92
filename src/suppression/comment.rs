//! The comment that would suppress a finding, and the line that it belongs on.

use super::{scan, to_span};
use crate::facts::suppression::SuppressionScope;
use crate::sources::FileKind;

/// A literal over more lines than this is left to the person.
const MOST_LINES: usize = 100;

/// A comment on a line of its own, whose reason is left for a person to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// Where it is put in.
    pub at: u32,
    pub text: String,
}

/// The comment that covers what stands at this byte, on the nearest line above on which it is one: a line inside
/// of a literal is none.
pub fn comment_above(kind: FileKind, text: &str, offset: u32, rule: &str) -> Option<Comment> {
    let marker = match kind {
        FileKind::Rust => "//",
        FileKind::Sql | FileKind::Lua => "--",
        FileKind::Manifest | FileKind::Folder => return None,
    };
    let mut line = line_start(text, offset as usize)?;
    for _ in 0..MOST_LINES {
        let comment = written(text, line, marker, rule)?;
        if covers(kind, text, &comment, offset, rule) {
            return Some(comment);
        }
        line = line_start(text, line.checked_sub(1)?)?;
    }
    None
}

fn line_start(text: &str, offset: usize) -> Option<usize> {
    let start = text.get(..offset)?.rfind('\n').map_or(0, |at| at + 1);
    let is_marked = start == 0 && text.starts_with('\u{feff}');
    Some(if is_marked { '\u{feff}'.len_utf8() } else { start })
}

fn written(text: &str, line: usize, marker: &str, rule: &str) -> Option<Comment> {
    let rest = text.get(line..)?;
    let indentation = &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()];
    let line_break =
        if rest.split('\n').next().is_some_and(|line| line.ends_with('\r')) { "\r\n" } else { "\n" };
    let text = format!("{indentation}{marker} leaselint: allow({rule}, reason = \"\"){line_break}");
    Some(Comment { at: to_span(line, line).start, text })
}

/// Tries it: what counts is what a run would make of the text.
fn covers(kind: FileKind, text: &str, comment: &Comment, offset: u32, rule: &str) -> bool {
    let mut with = text.to_owned();
    with.insert_str(comment.at as usize, &comment.text);
    let end = comment.at as usize + comment.text.len();
    let moved = offset as usize + comment.text.len();
    scan(kind, &with).suppressions.iter().any(|found| {
        let is_it = found.rule == rule && (comment.at..to_span(end, end).start).contains(&found.span.start);
        let SuppressionScope::Span(span) = found.scope else { return false };
        is_it && (span.start as usize..span.end as usize).contains(&moved)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_comment(kind: FileKind, text: &str, at: &str) -> Option<String> {
        let offset = u32::try_from(text.find(at).unwrap()).unwrap();
        let comment = comment_above(kind, text, offset, "get-then-del")?;
        let mut with = text.to_owned();
        with.insert_str(comment.at as usize, &comment.text);
        Some(with)
    }

    #[test]
    fn it_stands_above_the_line_and_as_far_to_the_right() {
        let with = with_comment(FileKind::Rust, "fn f() {\r\n    del();\r\n}\r\n", "del").unwrap();
        let wanted =
            "fn f() {\r\n    // leaselint: allow(get-then-del, reason = \"\")\r\n    del();\r\n}\r\n";
        assert_eq!(with, wanted);
        let with = with_comment(FileKind::Sql, "SELECT 1;\nUPDATE a\nSET b = 1", "UPDATE").unwrap();
        assert_eq!(with, "SELECT 1;\n-- leaselint: allow(get-then-del, reason = \"\")\nUPDATE a\nSET b = 1");
    }

    #[test]
    fn it_never_stands_in_a_literal() {
        let text = "fn f() {\n  run(\n    r#\"UPDATE a\n       SET b = 1\"#,\n  );\n}\n";
        let with = with_comment(FileKind::Rust, text, "SET").unwrap();
        assert!(
            with.contains("run(\n    // leaselint: allow(get-then-del, reason = \"\")\n    r#"),
            "{with}"
        );
    }

    #[test]
    fn the_first_line_has_room_above_it() {
        assert!(with_comment(FileKind::Rust, "fn f() {}", "fn").unwrap().starts_with("// leaselint"));
        assert!(
            with_comment(FileKind::Rust, "\u{feff}fn f() {}", "fn")
                .unwrap()
                .starts_with("\u{feff}// leaselint")
        );
        assert_eq!(with_comment(FileKind::Manifest, "a", "a"), None);
        assert_eq!(comment_above(FileKind::Rust, "é", 1, "x"), None);
        assert_eq!(comment_above(FileKind::Rust, "", 9, "x"), None);
    }
}
