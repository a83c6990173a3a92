//! The target of suppression comments: what they say and cover, and the comment that an editor would put in.

use std::str::from_utf8;

use leaselint::facts::suppression::SuppressionScope;
use leaselint::sources::FileKind;
use leaselint::suppression::{comment_above, scan};

use crate::places::{assert_is_kept, assert_lies_in};
use crate::stack::on_a_large_stack;

/// The first byte says which language the rest is in.
pub fn suppression(data: &[u8]) {
    on_a_large_stack(suppression_here, data);
}

fn suppression_here(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let Ok(text) = from_utf8(rest) else { return };
    let kind = [FileKind::Rust, FileKind::Sql, FileKind::Lua][usize::from(*first) % 3];
    let found = scan(kind, text);
    for suppression in &found.suppressions {
        assert_lies_in(text, suppression.span, "a comment");
        if let SuppressionScope::Span(span) = suppression.scope {
            assert_lies_in(text, span, "what a comment covers");
        }
    }
    for (span, _) in &found.malformed {
        assert_lies_in(text, *span, "a comment that cannot be read");
    }
    assert_is_kept(&found);
    // Each of these scans the text as often as it looks for a line.
    for tenth in [0, 3, 7, 10] {
        let offset = (text.len() / 10 * tenth) as u32;
        if let Some(comment) = comment_above(kind, text, offset, "get-then-del") {
            assert!(comment.at <= offset && text.is_char_boundary(comment.at as usize));
        }
    }
}
