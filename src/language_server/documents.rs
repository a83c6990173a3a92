//! The texts that the editor holds open, kept as it changes them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gen_lsp_types::{TextDocumentContentChangeEvent, TextDocumentItem, Uri};

use super::positions::{Encoding, Lines};
use super::uris;
use crate::sources::{FileKind, Unsaved};

/// A text of a kind that is checked.
#[derive(Debug)]
pub(super) struct Document {
    /// As the editor writes it, which is not the only way.
    pub(super) uri: Uri,
    pub(super) path: PathBuf,
    pub(super) version: i32,
    pub(super) text: Arc<str>,
    /// It has been changed since it was saved or opened.
    pub(super) is_changed: bool,
}

/// All of them, by the names that the editor gives them.
#[derive(Debug, Default)]
pub(super) struct Documents {
    open: BTreeMap<String, Document>,
}

impl Documents {
    /// Whether the text is one that is checked.
    pub(super) fn open(&mut self, item: TextDocumentItem) -> bool {
        let Some(path) = uris::to_resolved_path(&item.uri) else { return false };
        if FileKind::of(&path).is_none() {
            return false;
        }
        let TextDocumentItem { uri, version, text, .. } = item;
        let name = uri.0.clone();
        self.open.insert(name, Document { uri, path, version, text: text.into(), is_changed: false });
        true
    }

    /// Makes the changes one after another, as each counts on those before it.
    pub(super) fn change(
        &mut self,
        uri: &Uri,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
        encoding: Encoding,
    ) -> bool {
        let Some(document) = self.open.get_mut(&uri.0) else { return false };
        for change in changes {
            document.text = match change {
                TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => {
                    whole.text.into()
                }
                TextDocumentContentChangeEvent::TextDocumentContentChangePartial(part) => {
                    let bytes = Lines::new(document.text.clone(), encoding).bytes(part.range);
                    let mut text = document.text.as_ref().to_owned();
                    text.replace_range(bytes, &part.text);
                    text.into()
                }
            };
        }
        document.version = version;
        document.is_changed = true;
        true
    }

    pub(super) fn saved(&mut self, uri: &Uri) -> bool {
        self.open.get_mut(&uri.0).map(|document| document.is_changed = false).is_some()
    }

    pub(super) fn close(&mut self, uri: &Uri) -> bool {
        self.open.remove(&uri.0).is_some()
    }

    pub(super) fn get(&self, uri: &Uri) -> Option<&Document> {
        self.open.get(&uri.0)
    }

    pub(super) fn at(&self, path: &Path) -> Option<&Document> {
        self.all().find(|document| document.path == path)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Document> {
        self.open.values()
    }

    /// The texts in the place of those on disk.
    pub(super) fn unsaved(&self) -> Vec<Unsaved> {
        self.all()
            .map(|document| Unsaved { path: document.path.clone(), text: document.text.clone() })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use gen_lsp_types::{LanguageKind, Position, Range, TextDocumentContentChangePartial};

    use super::*;

    fn part(start: (u32, u32), end: (u32, u32), text: &str) -> TextDocumentContentChangeEvent {
        let at = |(line, character)| Position { line, character };
        let range = Range { start: at(start), end: at(end) };
        TextDocumentContentChangePartial::new(range, None, text.to_owned()).into()
    }

    #[test]
    fn each_change_counts_on_those_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let uri = uris::from_path(&folder.path().join("new.sql"));
        let mut documents = Documents::default();
        let item = |uri: &Uri| TextDocumentItem::new(uri.clone(), LanguageKind::SQL, 1, "ä\nb".to_owned());
        assert!(documents.open(item(&uri)));
        let changes = vec![part((0, 1), (1, 0), ""), part((0, 2), (7, 0), "c"), part((0, 0), (0, 0), "🔒")];
        assert!(documents.change(&uri, 2, changes, Encoding::Utf16));
        let document = documents.get(&uri).unwrap();
        assert_eq!((&*document.text, document.version, document.is_changed), ("🔒äbc", 2, true));
        assert!(documents.close(&uri) && !documents.close(&uri));
        assert!(!documents.change(&uri, 3, Vec::new(), Encoding::Utf16));
        for other in [Uri("untitled:1".to_owned()), uris::from_path(&folder.path().join("notes.txt"))] {
            assert!(!documents.open(item(&other)));
        }
    }
}
