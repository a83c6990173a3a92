//! From findings with fixes to new texts: which fixes are applied, in which order, and what a file is after
//! them. It reads and writes no file.

mod difference;

use std::collections::BTreeMap;

pub use difference::difference;

use crate::facts::{FileId, Texts};
use crate::finding::{Applicability, Edit, Finding, Fix};

/// What a round of fixing makes of the files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fixed {
    pub texts: BTreeMap<FileId, String>,
    /// The rules whose findings were mended, one for each finding.
    pub rules: Vec<&'static str>,
}

/// Applies the first fix of each finding that is at least as sure as asked. A fix that touches what another
/// one has changed is left for the next round.
pub fn apply<'a>(
    findings: impl IntoIterator<Item = &'a Finding>,
    least: Applicability,
    texts: &dyn Texts,
) -> Fixed {
    let chosen = chosen(findings, least);
    let rules = chosen.iter().map(|(finding, _)| finding.rule).collect();
    let mut by_file: BTreeMap<FileId, Vec<&Edit>> = BTreeMap::new();
    for edit in chosen.into_iter().flat_map(|(_, fix)| &fix.edits) {
        by_file.entry(edit.location.file).or_default().push(edit);
    }
    let edited = by_file.into_iter().filter_map(|(file, edits)| {
        let text = edited(&texts.text(file)?, edits)?;
        Some((file, text))
    });
    Fixed { texts: edited.collect(), rules }
}

/// The first fix of each finding that is at least as sure as asked, and touches nothing that one before it does.
pub fn chosen<'a>(
    findings: impl IntoIterator<Item = &'a Finding>,
    least: Applicability,
) -> Vec<(&'a Finding, &'a Fix)> {
    let mut taken: Vec<&Edit> = Vec::new();
    let mut chosen = Vec::new();
    for finding in findings {
        let is_apart = |fix: &&Fix| fix.edits.iter().all(|edit| taken.iter().all(|other| apart(edit, other)));
        let wanted = finding.fixes.iter().filter(|fix| fix.applicability <= least).find(is_apart);
        if let Some(fix) = wanted {
            taken.extend(&fix.edits);
            chosen.push((finding, fix));
        }
    }
    chosen
}

fn apart(a: &Edit, b: &Edit) -> bool {
    a.location.file != b.location.file
        || a.location.span.end < b.location.span.start
        || b.location.span.end < a.location.span.start
}

/// A text after its edits, the last one first, so that the places of the others stay right.
fn edited(text: &str, mut edits: Vec<&Edit>) -> Option<String> {
    edits.sort_by_key(|edit| edit.location.span);
    let mut text = text.to_owned();
    for edit in edits.into_iter().rev() {
        let range = edit.location.span.start as usize..edit.location.span.end as usize;
        text.get(range.clone())?;
        text.replace_range(range, &edit.replacement);
    }
    Some(text)
}
