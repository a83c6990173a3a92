//! Files and findings for the tests of reports.

use std::sync::Arc;

use super::SourceView;
use crate::facts::{FileId, Location, Span};
use crate::finding::{Confidence, Finding, Label, Severity};

pub(super) struct Files(Vec<(String, Option<Arc<str>>)>);

impl Files {
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        Self(files.iter().map(|(path, text)| ((*path).to_owned(), Some(Arc::from(*text)))).collect())
    }

    pub(super) fn add_unreadable(&mut self, path: &str) {
        self.0.push((path.to_owned(), None));
    }

    /// Where `needle` stands in a file.
    pub(super) fn find(&self, file: u32, needle: &str) -> Location {
        let text = self.text(FileId(file)).expect("a file with text");
        let start = text.find(needle).expect("the needle stands in the text") as u32;
        Location { file: FileId(file), span: Span::new(start, start + needle.len() as u32) }
    }
}

impl SourceView for Files {
    fn path(&self, file: FileId) -> &str {
        &self.0[file.0 as usize].0
    }

    fn text(&self, file: FileId) -> Option<Arc<str>> {
        self.0[file.0 as usize].1.clone()
    }
}

pub(super) fn finding(files: &Files, file: u32, needle: &str) -> Finding {
    Finding {
        rule: "unreadable-input",
        severity: Severity::Warning,
        confidence: Confidence::High,
        message: "the release can delete another holder's lock".to_owned(),
        primary: files.find(file, needle),
        primary_label: "deleted here".to_owned(),
        related: Vec::new(),
        lock: Some("job-lock:{}".to_owned()),
        help: "compare and delete in one script".to_owned(),
        fixes: Vec::new(),
        counterexample: None,
    }
}

/// A finding with places in two files.
pub(super) fn across_files() -> (Files, Vec<Finding>) {
    let files = Files::new(&[
        ("src/lock.rs", "fn free() {\n    if get(key) == owner {\n        del(key);\n    }\n}\n"),
        ("src/kv.rs", "fn del(key: &str) {\n    conn.del(key);\n}\n"),
    ]);
    let mut one = finding(&files, 0, "del(key)");
    one.severity = Severity::Error;
    one.related = vec![
        Label { location: files.find(0, "get(key) == owner"), message: "compared here".to_owned() },
        Label { location: files.find(1, "conn.del(key)"), message: "the command that deletes".to_owned() },
    ];
    (files, vec![one])
}
