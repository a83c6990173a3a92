//! The places of a report as an editor names them: a file by its URI, a span by lines and characters.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use gen_lsp_types::{Location as EditorLocation, Range, Uri};

use super::documents::{Document, Documents};
use super::positions::{Encoding, Lines};
use super::uris;
use crate::facts::{FileId, Location};
use crate::sources::Sources;

/// The files of a report beside the texts that are open.
pub(super) struct Places<'a> {
    pub(super) sources: &'a Sources,
    documents: &'a Documents,
    encoding: Encoding,
    lines: RefCell<HashMap<FileId, Rc<Lines>>>,
}

impl<'a> Places<'a> {
    pub(super) fn new(sources: &'a Sources, documents: &'a Documents, encoding: Encoding) -> Self {
        Self { sources, documents, encoding, lines: RefCell::default() }
    }

    /// The open text of a file.
    pub(super) fn document(&self, file: FileId) -> Option<&'a Document> {
        self.documents.at(self.sources.absolute(file))
    }

    /// The file of an open text, when the report is about the text as it is now.
    pub(super) fn file(&self, document: &Document) -> Option<(FileId, Arc<str>)> {
        let found = self.sources.files().find(|(_, file)| file.absolute() == document.path);
        let (file, text) = found.and_then(|(file, _)| Some((file, self.sources.text(file)?)))?;
        (text == document.text).then_some((file, text))
    }

    pub(super) fn uri(&self, file: FileId) -> Uri {
        match self.document(file) {
            Some(document) => document.uri.clone(),
            None => uris::from_path(self.sources.absolute(file)),
        }
    }

    pub(super) fn range(&self, location: Location) -> Range {
        self.lines(location.file).range(location.span)
    }

    pub(super) fn location(&self, location: Location) -> EditorLocation {
        EditorLocation { uri: self.uri(location.file), range: self.range(location) }
    }

    pub(super) fn lines(&self, file: FileId) -> Rc<Lines> {
        let known = self.lines.borrow().get(&file).cloned();
        known.unwrap_or_else(|| {
            let text = self.sources.text(file).unwrap_or_default();
            let lines = Rc::new(match self.document(file) {
                Some(_) => Lines::new(text, self.encoding),
                None => Lines::of_file(text, self.encoding),
            });
            self.lines.borrow_mut().insert(file, lines.clone());
            lines
        })
    }
}
