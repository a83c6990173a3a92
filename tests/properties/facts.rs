//! Facts: what the front ends make of a text comes back from the cache as it was, and its places lie in the text.

use std::fs;
use std::path::{Path, PathBuf};

use leaselint::facts::file::FileFacts;
use leaselint::facts::sql::Dialect;
use leaselint::facts::{Span, walk};
use leaselint::{lua, rust, sql};
use proptest::prelude::*;

use crate::cases;

pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// All files below a folder, sorted.
pub fn below(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().flat_map(|path| if path.is_dir() { below(&path) } else { vec![path] }).collect()
}

const DIALECTS: [Dialect; 3] = [Dialect::Postgres, Dialect::MySql, Dialect::Sqlite];

/// The facts of a text in a language, by its files' ending: in each dialect where it has several.
fn facts_of(language: &str, text: &str) -> Vec<FileFacts> {
    match language {
        "rs" => rust::parse(text).map(FileFacts::Rust).into_iter().collect(),
        "sql" => DIALECTS.map(|dialect| FileFacts::Sql(sql::parse(text, dialect), dialect)).into(),
        "lua" => vec![FileFacts::Lua(lua::parse(text))],
        _ => Vec::new(),
    }
}

fn assert_is_kept(facts: &FileFacts) {
    let bytes = postcard::to_stdvec(facts).unwrap();
    assert_eq!(postcard::from_bytes::<FileFacts>(&bytes).unwrap(), *facts);
    // What is torn is refused or is something else, and never the end of a run.
    let _ = postcard::from_bytes::<FileFacts>(&bytes[..bytes.len() / 2]);
}

fn assert_places(text: &str, facts: &FileFacts) {
    let lies = |span: Span| {
        assert!(text.get(span.start as usize..span.end as usize).is_some(), "{span:?} of {text:?}");
    };
    match facts {
        FileFacts::Rust(file) => {
            for body in file.functions.iter().filter_map(|function| function.body.as_ref()) {
                walk::each_expr(body, &mut |expr| lies(expr.span));
            }
        }
        FileFacts::Sql(file, _) => {
            file.statements.iter().for_each(|statement| lies(statement.span));
            file.problems.iter().for_each(|(span, _)| lies(*span));
        }
        FileFacts::Lua(file) => {
            file.scripts.iter().flat_map(|script| &script.commands).for_each(|command| lies(command.span));
            file.problem.iter().for_each(|(span, _)| lies(*span));
        }
        FileFacts::Unreadable => {}
    }
}

fn language(path: &Path) -> &str {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or_default()
}

#[test]
fn facts_of_all_fixtures_are_kept() {
    let mut counts = [0_usize; 3];
    for (at, path) in below(&fixtures()).into_iter().enumerate() {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        // One dialect for each file will do; the property below has all of them.
        for facts in facts_of(language(&path), &text).into_iter().cycle().skip(at % 3).take(1) {
            assert_is_kept(&facts);
            assert_places(&text, &facts);
            counts[match facts {
                FileFacts::Rust(_) => 0,
                FileFacts::Sql(..) => 1,
                _ => 2,
            }] += 1;
        }
    }
    assert!(counts[0] > 300 && counts[1] > 200 && counts[2] > 5, "{counts:?}");
}

/// The lines of the fixtures in one language.
fn lines(ending: &str) -> Vec<String> {
    let paths = below(&fixtures()).into_iter().filter(|path| language(path) == ending);
    let texts = paths.filter_map(|path| fs::read_to_string(path).ok());
    let mut lines: Vec<String> =
        texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    lines.sort();
    lines.dedup();
    lines
}

/// Lines of fixtures in any order, some of them cut.
fn shuffled(ending: &'static str) -> impl Strategy<Value = (&'static str, String)> {
    let line =
        (prop::sample::select(lines(ending)), prop::option::weighted(0.2, any::<prop::sample::Index>()));
    prop::collection::vec(line, 0..12).prop_map(move |lines| {
        let cut = lines.into_iter().map(|(line, at)| {
            let starts: Vec<usize> = line.char_indices().map(|(at, _)| at).collect();
            match at.filter(|_| !starts.is_empty()) {
                Some(at) => line[..starts[at.index(starts.len())]].to_owned(),
                None => line,
            }
        });
        (ending, cut.collect::<Vec<_>>().join("\n"))
    })
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn facts_of_any_text_are_kept((ending, text) in prop_oneof![shuffled("sql"), shuffled("lua"), shuffled("rs")]) {
        // Lines of several files hardly ever make a Rust file; those of one function's body often do.
        let text = if ending == "rs" && !text.contains("fn ") { format!("fn f() {{\n{text}\n}}") } else { text };
        for facts in facts_of(ending, &text) {
            assert_is_kept(&facts);
            assert_places(&text, &facts);
        }
    }
}
