//! Places inside literals: whatever way a text is written as a Rust literal, each part of it leads back to where it
//! was written.

use leaselint::facts::rust::{ExprKind, TextLiteral};
use leaselint::facts::sql::Dialect;
use leaselint::facts::{Span, TextMap};
use leaselint::{lua, rust, sql};
use proptest::prelude::*;

use crate::cases;

/// A character, and how it is written; or nothing, written as a joined line.
#[derive(Debug, Clone)]
struct Stroke {
    value: Option<char>,
    written: String,
}

fn stroke(value: char, written: impl Into<String>) -> Stroke {
    Stroke { value: Some(value), written: written.into() }
}

/// Any way in which an ordinary literal may hold one character.
fn strokes() -> impl Strategy<Value = Stroke> {
    let often = prop_oneof![4 => proptest::char::range(' ', '~'), 1 => any::<char>()];
    let plain = often.prop_filter_map("must be escaped", |c| {
        let is_plain = !matches!(c, '"' | '\\' | '\r');
        is_plain.then(|| stroke(c, c))
    });
    let unicode = (any::<char>(), any::<bool>()).prop_map(|(c, padded)| {
        let hex = if padded { format!("{:06x}", c as u32) } else { format!("{:X}", c as u32) };
        stroke(c, format!("\\u{{{hex}}}"))
    });
    let short = prop::sample::select(vec![
        ('\n', "\\n"),
        ('\t', "\\t"),
        ('\r', "\\r"),
        ('\0', "\\0"),
        ('\'', "\\'"),
        ('"', "\\\""),
        ('\\', "\\\\"),
        ('A', "\\x41"),
        ('\n', "\n"),
        ('\n', "\r\n"),
    ]);
    let joined = prop::sample::select(vec!["\\\n", "\\\n    ", "\\\r\n\t", "\\\n\n  "]);
    prop_oneof![
        12 => plain,
        2 => unicode,
        3 => short.prop_map(|(c, written)| stroke(c, written)),
        1 => joined.prop_map(|written| Stroke { value: None, written: written.to_owned() }),
    ]
}

/// Words of the languages that stand in literals, a stroke for each character.
fn words() -> impl Strategy<Value = Vec<Stroke>> {
    let words = prop::sample::select(vec![
        "SELECT ",
        "UPDATE jobs SET ",
        "a = 1",
        " WHERE ",
        "token < $1",
        " AND ",
        "(",
        ")",
        "'é'",
        "; ",
        "redis.call('GET', KEYS[1])",
        "local x = ",
        "if ",
        " then ",
        " end ",
        "ARGV[1]",
        "-- x",
        "DELETE FROM t",
    ]);
    words.prop_map(|word| word.chars().map(|c| stroke(c, c)).collect())
}

fn texts() -> impl Strategy<Value = Vec<Stroke>> {
    prop::collection::vec(prop_oneof![strokes().prop_map(|one| vec![one]), words()], 0..24)
        .prop_map(|parts| settled(parts.concat()))
}

/// A joined line swallows the white space behind it, so that none may be meant there.
fn settled(strokes: Vec<Stroke>) -> Vec<Stroke> {
    let mut settled: Vec<Stroke> = Vec::new();
    for stroke in strokes {
        let is_swallowed = stroke.written.starts_with([' ', '\t', '\n', '\r']);
        if !(is_swallowed && settled.last().is_some_and(|last| last.value.is_none())) {
            settled.push(stroke);
        }
    }
    settled
}

/// The literal, with the place of each byte of its value: where the stroke is that it belongs to.
struct Written {
    file: String,
    value: String,
    strokes: Vec<(std::ops::Range<usize>, std::ops::Range<usize>)>,
}

fn write(before: &str, strokes: &[Stroke]) -> Written {
    let mut written = Written { file: before.to_owned(), value: String::new(), strokes: Vec::new() };
    for stroke in strokes {
        let (value, source) = (written.value.len(), written.file.len());
        written.value.extend(stroke.value);
        written.file.push_str(&stroke.written);
        if stroke.value.is_some() {
            // The end of a line is one character, and the one before it is not meant.
            let start = source + usize::from(stroke.written == "\r\n");
            written.strokes.push((value..written.value.len(), start..written.file.len()));
        }
    }
    written
}

fn literal(file: &str) -> TextLiteral {
    let facts = rust::parse(file).unwrap_or_else(|error| panic!("{error}: {file:?}"));
    let value = facts.constants.into_iter().next().unwrap().value.unwrap();
    let ExprKind::Text(literal) = value.kind else { panic!("a literal is a text: {file:?}") };
    literal
}

/// The span of the source that a span of the value must lead to.
fn wanted(written: &Written, value: Span) -> Span {
    let of = |byte: usize| {
        let at = written.strokes.partition_point(|(value, _)| value.end <= byte);
        &written.strokes[at].1
    };
    Span::new(of(value.start as usize).start as u32, of(value.end as usize - 1).end as u32)
}

fn assert_places(written: &Written, map: &TextMap, spans: impl Iterator<Item = Span>) {
    for span in spans.filter(|span| span.start < span.end) {
        let part = &written.value[span.start as usize..span.end as usize];
        assert_eq!(map.source_span(span), wanted(written, span), "{part:?} of {:?}", written.file);
    }
}

/// Every character by itself, and everything from each to the end.
fn all_spans(value: &str) -> impl Iterator<Item = Span> + '_ {
    let length = value.len() as u32;
    value.char_indices().flat_map(move |(at, c)| {
        let at = at as u32;
        [Span::new(at, at + c.len_utf8() as u32), Span::new(at, length)]
    })
}

/// The places of what the front ends find in the text.
fn found_spans(value: &str) -> Vec<Span> {
    let facts = sql::parse(value, Dialect::Postgres);
    let statements = facts.statements.iter().map(|statement| statement.span);
    let scripts = lua::parse(value).scripts;
    let commands = scripts.iter().flat_map(|script| &script.commands).map(|command| command.span);
    statements.chain(commands).collect()
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn an_ordinary_literal(strokes in texts()) {
        let mut written = write("const A: &str = \"", &strokes);
        written.file.push_str("\";\n");
        let literal = literal(&written.file);
        prop_assert_eq!(&literal.value, &written.value);
        assert_places(&written, &literal.map, all_spans(&written.value));
        assert_places(&written, &literal.map, found_spans(&written.value).into_iter());
    }

    #[test]
    fn a_raw_literal(text in "[ -~é\n]{0,60}", hashes in 1_usize..4, crlf in any::<bool>()) {
        let hash = "#".repeat(hashes);
        prop_assume!(!text.contains(&format!("\"{hash}")));
        let line_end = if crlf { "\r\n" } else { "\n" };
        let strokes: Vec<Stroke> =
            text.chars().map(|c| if c == '\n' { stroke(c, line_end) } else { stroke(c, c) }).collect();
        let mut written = write(&format!("// é\nconst A: &str = r{hash}\""), &strokes);
        written.file.push_str(&format!("\"{hash};\n"));
        let literal = literal(&written.file);
        prop_assert_eq!(&literal.value, &written.value);
        assert_places(&written, &literal.map, all_spans(&written.value));
        assert_places(&written, &literal.map, found_spans(&written.value).into_iter());
    }

    /// What stands behind a place in a text, and a text behind another, keep their places.
    #[test]
    fn parts_of_literals(strokes in texts(), cut in any::<prop::sample::Index>()) {
        let mut written = write("const A: &str = \"", &strokes);
        written.file.push_str("\";\n");
        let literal = literal(&written.file);
        prop_assume!(!written.value.is_empty());
        let starts: Vec<usize> = written.value.char_indices().map(|(at, _)| at).collect();
        let from = starts[cut.index(starts.len())] as u32;
        let length = written.value.len() as u32;
        let behind = literal.map.behind(from);
        let mut joined = TextMap::verbatim(1_000_000);
        joined.append(7, &behind, length - from);
        for span in all_spans(&written.value).filter(|span| span.start >= from) {
            let place = wanted(&written, span);
            let moved = Span::new(span.start - from, span.end - from);
            prop_assert_eq!(behind.source_span(moved), place);
            prop_assert_eq!(joined.source_span(Span::new(moved.start + 7, moved.end + 7)), place);
        }
    }
}
