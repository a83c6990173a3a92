//! Suppression comments: any text can be scanned, and what is written by the form is read back as it was meant.

use leaselint::facts::suppression::SuppressionScope;
use leaselint::sources::FileKind;
use leaselint::suppression::{comment_above, scan};
use proptest::prelude::*;

use crate::cases;

const KINDS: [(FileKind, &str); 3] = [(FileKind::Rust, "//"), (FileKind::Sql, "--"), (FileKind::Lua, "--")];

fn kinds() -> impl Strategy<Value = (FileKind, &'static str)> {
    prop::sample::select(KINDS.to_vec())
}

/// Pieces that mean something to a scanner, in any order.
fn soup() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "// leaselint: allow(",
        "-- leaselint: allow-file(",
        "leaselint:",
        "fence",
        ", reason = \"",
        "\\",
        "\"",
        ")",
        "\n",
        "\r\n",
        "/*",
        "*/",
        "--[[",
        "]]",
        "r#\"",
        "'",
        "{",
        "}",
        "(",
        ";",
        "fn f()",
        "SELECT 1",
        "$$",
        "é",
        "#[a]",
        "=>",
    ]);
    let piece = prop_oneof![8 => pieces.prop_map(str::to_owned), 1 => "\\PC{0,4}"];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn any_text_is_scanned((kind, _) in kinds(), text in soup(), offset in any::<prop::sample::Index>()) {
        let found = scan(kind, &text);
        let comments = found.suppressions.iter().map(|suppression| suppression.span);
        let scopes = found.suppressions.iter().filter_map(|suppression| match suppression.scope {
            SuppressionScope::Span(span) => Some(span),
            SuppressionScope::File => None,
        });
        for span in comments.chain(scopes).chain(found.malformed.iter().map(|(span, _)| *span)) {
            prop_assert!(text.get(span.start as usize..span.end as usize).is_some(), "{span:?} of {text:?}");
        }
        let offset = offset.index(text.len() + 1);
        if let Some(comment) = comment_above(kind, &text, offset as u32, "get-then-del") {
            let mut with = text.clone();
            with.insert_str(comment.at as usize, &comment.text);
            let more = scan(kind, &with).suppressions.len();
            prop_assert!(more > 0, "the comment that is offered is one: {with:?}");
        }
    }

    #[test]
    fn what_is_written_is_read(
        (kind, marker) in kinds(),
        rules in prop::collection::vec("[a-z][a-z0-9]{0,8}(-[a-z0-9]{1,8}){0,3}", 1..4),
        reason in prop::option::of("[^\n\r]{0,40}"),
        whole_file in any::<bool>(),
    ) {
        prop_assume!(rules.iter().all(|rule| rule != "reason"));
        let word = if whole_file { "allow-file" } else { "allow" };
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let told = reason.as_ref().map_or(String::new(), |reason| format!(", reason = \"{}\"", quoted(reason)));
        let text = format!("{marker} leaselint: {word}({}{told})\nx\n", rules.join(", "));
        let found = scan(kind, &text);
        prop_assert_eq!(&found.malformed, &[]);
        let names: Vec<&str> = found.suppressions.iter().map(|suppression| suppression.rule.as_str()).collect();
        prop_assert_eq!(names, rules.iter().map(String::as_str).collect::<Vec<_>>());
        for suppression in &found.suppressions {
            prop_assert_eq!(&suppression.reason, &reason, "{}", text);
            prop_assert_eq!(suppression.scope == SuppressionScope::File, whole_file);
        }
    }
}
