//! Marks: comments in fixture files that say which rule speaks of which line.
//!
//! `//~ rule` stands on the line where the finding starts; `//~^ rule` below it, with one `^` for each
//! line between. `--~` is the same in SQL and Lua, also where they stand in a Rust literal. After the
//! rule a part of the message may follow: `//~ rule: "owner"`. A line may hold several marks.

use std::fs;
use std::path::Path;

use ignore::WalkBuilder;
use libtest_mimic::Trial;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Relative to the case's folder, with `/`.
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) rule: String,
    /// A part of the message; often empty.
    pub(crate) message: String,
}

impl Mark {
    pub(crate) fn fits(&self, path: &str, line: usize, rule: &str) -> bool {
        self.path == path && self.line == line && self.rule == rule
    }
}

/// All marks in the files of a folder, in the order of their places.
pub(crate) fn of_folder(folder: &Path) -> Result<Vec<Mark>, String> {
    let mut out = Vec::new();
    for entry in WalkBuilder::new(folder).standard_filters(false).sort_by_file_name(Ord::cmp).build() {
        let entry = entry.map_err(|error| error.to_string())?;
        let path = entry.path();
        if !path.extension().is_some_and(|ext| ext == "rs" || ext == "sql" || ext == "lua") {
            continue;
        }
        let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let inside = path.strip_prefix(folder).unwrap_or(path).to_string_lossy().replace('\\', "/");
        out.extend(of_text(&inside, &String::from_utf8_lossy(&bytes))?);
    }
    Ok(out)
}

fn of_text(path: &str, text: &str) -> Result<Vec<Mark>, String> {
    let mut out = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.replace("--~", "//~");
        for written in line.split("//~").skip(1) {
            out.push(
                mark(path, at + 1, written)
                    .ok_or_else(|| format!("{path}:{}: not a mark: {written:?}", at + 1))?,
            );
        }
    }
    Ok(out)
}

fn mark(path: &str, line: usize, written: &str) -> Option<Mark> {
    let above = written.bytes().take_while(|byte| *byte == b'^').count();
    let (rule, rest) = match written[above..].split_once(':') {
        Some((rule, rest)) => (rule, Some(rest)),
        None => (&written[above..], None),
    };
    let rule = rule.trim();
    let is_rule = !rule.is_empty() && rule.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let message = match rest {
        Some(rest) => rest.trim().strip_prefix('"')?.strip_suffix('"')?.to_owned(),
        None => String::new(),
    };
    let line = line.checked_sub(above).filter(|line| *line > 0)?;
    is_rule.then(|| Mark { path: path.to_owned(), line, rule: rule.to_owned(), message })
}

/// Tests of this parser, since a mark that is not read would make a test that cannot fail.
pub(crate) fn self_tests() -> Vec<Trial> {
    let good = || {
        let text = "a //~ one\nb --~^ two: \"part\" //~ three\n\n//~^^ four";
        let read = of_text("f.rs", text)?;
        let seen: Vec<_> = read.iter().map(|m| (m.line, m.rule.as_str(), m.message.as_str())).collect();
        let wanted = [(1, "one", ""), (1, "two", "part"), (2, "three", ""), (2, "four", "")];
        if seen == wanted { Ok(()) } else { Err(format!("{seen:?}").into()) }
    };
    let bad = || {
        let broken = ["//~", "//~ ", "//~ Rule", "//~ a b", "//~^^ x", "//~ a: part", "//~ a: \"part"];
        match broken.iter().find(|text| of_text("f.rs", text).is_ok()) {
            Some(text) => Err(format!("{text:?} was read as a mark").into()),
            None => Ok(()),
        }
    };
    vec![Trial::test("marks::are_read", good), Trial::test("marks::that_are_broken_are_refused", bad)]
}
