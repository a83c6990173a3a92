//! Findings as diagnostics: what is underlined, and what is said about it.

use std::collections::BTreeMap;

use gen_lsp_types::{
    Code, CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Message, Uri,
};

use super::places::Places;
use crate::facts::Location;
use crate::finding::{Finding, Severity};
use crate::report::{rule_url, sanitize};
use crate::sources::FileKind;

/// The name that editors show beside a diagnostic.
const SOURCE: &str = "leaselint";

/// The diagnostics of each file that has some.
pub(super) fn by_file(
    findings: &[Finding],
    places: &Places<'_>,
    shows_related: bool,
) -> BTreeMap<String, Vec<Diagnostic>> {
    let mut all: BTreeMap<String, Vec<Diagnostic>> = BTreeMap::new();
    for finding in findings {
        let file = finding.primary.file;
        // A folder has no text to underline anything in.
        if places.sources.file(file).kind != FileKind::Folder {
            let Uri(uri) = places.uri(file);
            all.entry(uri).or_default().push(diagnostic(finding, places, shows_related));
        }
    }
    all
}

pub(super) fn diagnostic(finding: &Finding, places: &Places<'_>, shows_related: bool) -> Diagnostic {
    let mut message =
        format!("{}\nhelp: {}", sanitize::line(&finding.message), sanitize::line(&finding.help));
    if let Some(lock) = &finding.lock {
        message.push_str("\nlock: ");
        message.push_str(&sanitize::line(lock));
    }
    Diagnostic {
        range: places.range(finding.primary),
        severity: Some(match finding.severity {
            Severity::Error => DiagnosticSeverity::Error,
            Severity::Warning => DiagnosticSeverity::Warning,
            Severity::Info => DiagnosticSeverity::Information,
        }),
        code: Some(Code::String(finding.rule.to_owned())),
        code_description: Some(CodeDescription { href: Uri(rule_url(finding.rule)) }),
        source: Some(SOURCE.to_owned()),
        message: Message::String(message),
        tags: None,
        related_information: shows_related.then(|| related(finding, places)),
        data: None,
    }
}

/// What stands at the finding's own place, then at the others, wherever they are.
fn related(finding: &Finding, places: &Places<'_>) -> Vec<DiagnosticRelatedInformation> {
    let own = (finding.primary, &finding.primary_label);
    let others = finding.related.iter().map(|label| (label.location, &label.message));
    let all = std::iter::once(own).filter(|(_, label)| !label.is_empty()).chain(others);
    let said = |(at, message): (Location, &String)| DiagnosticRelatedInformation {
        location: places.location(at),
        message: sanitize::line(message).into_owned(),
    };
    all.map(said).collect()
}

/// Whether it says that its file cannot be read.
pub(super) fn says_unreadable(diagnostic: &Diagnostic) -> bool {
    matches!(&diagnostic.code, Some(Code::String(rule)) if rule == "unreadable-input")
}
