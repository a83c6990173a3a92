//! What an editor offers to do about a finding: its fixes, a comment that allows it, and all certain fixes of a file
//! at once.

use std::collections::{BTreeMap, HashMap};

use gen_lsp_types::{
    CodeAction, CodeActionContext, CodeActionKind, CodeActionResponse, DocumentChange, Edit as EditorEdit,
    OptionalVersionedTextDocumentIdentifier, Range, TextDocumentEdit, TextDocumentIdentifier, TextEdit,
    WorkspaceEdit,
};

use super::analysis::Analysed;
use super::client::Client;
use super::diagnostics::diagnostic;
use super::documents::Document;
use super::places::Places;
use crate::facts::{FileId, Location, Span};
use crate::finding::{Applicability, Edit, Finding, Fix};
use crate::fixing;
use crate::suppression::comment_above;

/// What may be asked for by name, to be done whenever a file is saved.
pub(super) const FIX_ALL: &str = "source.fixAll.leaselint";

/// All that can be offered for a range of an open text. Nothing where the text has changed since.
pub(super) fn actions(
    analysed: &Analysed,
    document: &Document,
    range: Range,
    context: &CodeActionContext,
    places: &Places<'_>,
    client: &Client,
) -> Vec<CodeActionResponse> {
    let Some((file, _)) = places.file(document) else { return Vec::new() };
    let bytes = places.lines(file).bytes(range);
    let in_file = || analysed.report.findings.iter().filter(|finding| finding.primary.file == file);
    let touches = |finding: &&Finding| {
        let span = finding.primary.span;
        span.start as usize <= bytes.end && bytes.start <= span.end as usize
    };
    let offer = Offer { places, client };
    let mut all = Vec::new();
    if is_wanted(context, "quickfix") {
        for finding in in_file().filter(touches) {
            all.extend(finding.fixes.iter().map(|fix| offer.fix(finding, fix)));
            all.extend(offer.comment(finding));
        }
    }
    if is_wanted(context, FIX_ALL) {
        let chosen = fixing::chosen(in_file(), Applicability::Machine);
        // One alone is offered where it stands, unless it is asked for by name.
        if chosen.len() > usize::from(context.only.is_none()) {
            all.push(offer.fix_all(&chosen));
        }
    }
    all.into_iter().map(CodeActionResponse::CodeAction).collect()
}

/// Kinds are trees: who asks for `source` wants `source.fixAll` as well.
fn is_wanted(context: &CodeActionContext, kind: &str) -> bool {
    context.only.as_ref().is_none_or(|only| {
        only.iter().map(ToString::to_string).any(|wanted| {
            let below = kind.strip_prefix(wanted.as_str());
            below.is_some_and(|rest| wanted.is_empty() || rest.is_empty() || rest.starts_with('.'))
        })
    })
}

struct Offer<'a> {
    places: &'a Places<'a>,
    client: &'a Client,
}

impl Offer<'_> {
    fn fix(&self, finding: &Finding, fix: &Fix) -> CodeAction {
        CodeAction {
            is_preferred: (fix.applicability == Applicability::Machine).then_some(true),
            ..self.quick_fix(fix.title.clone(), finding, &fix.edits)
        }
    }

    /// The comment that allows a finding; its reason is for the person to write, and missed until it is there.
    fn comment(&self, finding: &Finding) -> Option<CodeAction> {
        let Location { file, span } = finding.primary;
        let source = self.places.sources.file(file);
        let text = self.places.sources.text(file)?;
        let comment = comment_above(source.kind, &text, span.start, finding.rule)?;
        let location = Location { file, span: Span::new(comment.at, comment.at) };
        let title = format!("allow `{}` here, for a reason to be written", finding.rule);
        Some(self.quick_fix(title, finding, &[Edit { location, replacement: comment.text }]))
    }

    fn quick_fix(&self, title: String, finding: &Finding, edits: &[Edit]) -> CodeAction {
        CodeAction {
            title,
            kind: Some(CodeActionKind::QuickFix),
            diagnostics: Some(vec![diagnostic(finding, self.places, self.client.shows_related)]),
            edit: Some(self.edit(edits)),
            ..CodeAction::default()
        }
    }

    fn fix_all(&self, chosen: &[(&Finding, &Fix)]) -> CodeAction {
        let edits: Vec<Edit> = chosen.iter().flat_map(|(_, fix)| fix.edits.iter().cloned()).collect();
        CodeAction {
            title: "leaselint: make all certain fixes of this file".to_owned(),
            kind: Some(CodeActionKind::from(FIX_ALL)),
            edit: Some(self.edit(&edits)),
            ..CodeAction::default()
        }
    }

    fn edit(&self, edits: &[Edit]) -> WorkspaceEdit {
        let mut by_file: BTreeMap<FileId, Vec<TextEdit>> = BTreeMap::new();
        for Edit { location, replacement } in edits {
            let edit = TextEdit { range: self.places.range(*location), new_text: replacement.clone() };
            by_file.entry(location.file).or_default().push(edit);
        }
        let mut edit = WorkspaceEdit::default();
        if self.client.has_versioned_edits {
            edit.document_changes =
                Some(by_file.into_iter().map(|(file, edits)| self.change(file, edits)).collect());
        } else {
            let changes = by_file.into_iter().map(|(file, edits)| (self.places.uri(file), edits));
            edit.changes = Some(changes.collect::<HashMap<_, _>>());
        }
        edit
    }

    /// An editor refuses edits for another version than the one it has.
    fn change(&self, file: FileId, edits: Vec<TextEdit>) -> DocumentChange {
        let version = self.places.document(file).map(|document| document.version);
        let text_document = OptionalVersionedTextDocumentIdentifier {
            version,
            text_document_identifier: TextDocumentIdentifier { uri: self.places.uri(file) },
        };
        TextDocumentEdit { text_document, edits: edits.into_iter().map(EditorEdit::TextEdit).collect() }
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_asked_for_by_themselves_and_by_what_they_are_a_kind_of() {
        let asked = |only: Option<&str>| CodeActionContext {
            only: only.map(|kind| vec![CodeActionKind::from(kind.to_owned())]),
            ..CodeActionContext::default()
        };
        for wanted in [None, Some(""), Some("source"), Some("source.fixAll"), Some(FIX_ALL)] {
            assert!(is_wanted(&asked(wanted), FIX_ALL), "{wanted:?}");
        }
        for other in ["quickfix", "source.fix", "source.fixAll.ruff", "source.organizeImports"] {
            assert!(!is_wanted(&asked(Some(other)), FIX_ALL), "{other}");
        }
    }
}
