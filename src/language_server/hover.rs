//! What stands behind a finding, where a person points at it: the page of its rule.

use gen_lsp_types::{Hover, MarkupContent, MarkupKind, Position};

use super::analysis::Analysed;
use super::documents::Document;
use super::places::Places;
use crate::finding::Finding;
use crate::report::rule_url;
use crate::rules;

/// The pages for a place of an open text, that of the innermost finding first; `None` where there is none, or where the text has
/// changed since.
pub(super) fn hover(
    analysed: &Analysed,
    document: &Document,
    position: Position,
    places: &Places<'_>,
) -> Option<Hover> {
    let (file, _) = places.file(document)?;
    let at = places.lines(file).offset(position);
    let mut here: Vec<&Finding> = analysed
        .report
        .findings
        .iter()
        .filter(|finding| {
            let span = finding.primary.span;
            finding.primary.file == file && (span.start as usize..=span.end as usize).contains(&at)
        })
        .collect();
    here.sort_by_key(|finding| finding.primary.span.end.saturating_sub(finding.primary.span.start));
    let range = places.range(here.first()?.primary);
    let value = here.into_iter().map(page).collect::<Vec<_>>().join("\n\n---\n\n");
    let contents = MarkupContent { kind: MarkupKind::Markdown, value };
    Some(Hover { contents: contents.into(), range: Some(range) })
}

/// Nothing of the checked file: what stands there must not become Markdown.
fn page(finding: &Finding) -> String {
    let page = rules::find(finding.rule).map_or("", |rule| rule.page.trim());
    format!("{page}\n\n[{}]({})", finding.rule, rule_url(finding.rule))
}
