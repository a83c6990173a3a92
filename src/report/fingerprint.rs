//! The identity of a finding over time, for baselines and for services that track findings.
//!
//! It depends on what was found and on the code that it was found in, not on where that stands or how it is
//! laid out, so that code above it may come and go and a formatter may break its lines. The hash is a fixed one and is never changed within a schema number.

use std::collections::BTreeMap;
use std::sync::Arc;

use siphasher::sip128::SipHasher13;

use super::SourceView;
use crate::facts::lines::LineIndex;
use crate::facts::{FileId, Span};
use crate::finding::Finding;

/// One fingerprint for each finding, in their order.
pub fn all(findings: &[Finding], sources: &dyn SourceView) -> Vec<String> {
    let mut texts: BTreeMap<FileId, Option<Arc<str>>> = BTreeMap::new();
    let mut seen: BTreeMap<[String; 4], u32> = BTreeMap::new();
    let mut out = Vec::with_capacity(findings.len());
    for finding in findings {
        let file = finding.primary.file;
        let text = texts.entry(file).or_insert_with(|| sources.text(file));
        let identity = [
            finding.rule.to_owned(),
            sources.path(file).to_owned(),
            finding.lock.clone().unwrap_or_default(),
            text.as_deref().map_or_else(String::new, |text| code_at(text, finding.primary.span)),
        ];
        let ordinal = seen.entry(identity.clone()).or_default();
        out.push(hash(&identity, *ordinal));
        *ordinal += 1;
    }
    out
}

/// The code of a span as no formatter changes it: without white space, and without the comma that stands at
/// the end of a list only when that takes several lines. Of a span of nothing, that of its line.
fn code_at(text: &str, span: Span) -> String {
    let named = text.get(span.start as usize..span.end as usize).filter(|code| !code.trim().is_empty());
    let code = named.unwrap_or_else(|| LineIndex::new(text).line_at(text, span.start));
    let mut out = String::with_capacity(code.len());
    for c in code.chars().filter(|c| !c.is_whitespace()) {
        if matches!(c, ')' | ']' | '}') && out.ends_with(',') {
            out.pop();
        }
        out.push(c);
    }
    out
}

fn hash(identity: &[String], ordinal: u32) -> String {
    let mut bytes = Vec::new();
    for part in identity {
        // The length keeps the parts apart whatever they hold.
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part.as_bytes());
    }
    bytes.extend(ordinal.to_le_bytes());
    format!("{:032x}", SipHasher13::new().hash(&bytes).as_u128())
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Files, finding};
    use super::*;

    fn of(text: &str, needles: &[&str]) -> Vec<String> {
        let files = Files::new(&[("src/lock.rs", text)]);
        let findings: Vec<_> = needles.iter().map(|needle| finding(&files, 0, needle)).collect();
        all(&findings, &files)
    }

    #[test]
    fn lines_that_move_keep_their_fingerprints() {
        let before = of("fn a() {\n  del(key);\n}\n", &["del"]);
        let after = of("// new\n\nfn a() {\n\tdel(key);\n}\n", &["del"]);
        assert_eq!(before, after);
    }

    #[test]
    fn code_that_is_formatted_keeps_its_fingerprint() {
        let before = of("con.del(a, b).await?;\n", &["con.del(a, b).await"]);
        let broken = "con.del(\n    a,\n    b,\n)\n.await";
        assert_eq!(before, of(&format!("  {broken}?;\n"), &[broken]));
        assert_ne!(before, of("con.del(a, c).await?;\n", &["con.del(a, c).await"]));
    }

    #[test]
    fn what_differs_has_another() {
        let both = of("del(key); \n  del(key);\n", &["del(key)", "  del(key)"]);
        assert_ne!(both[0], both[1], "equal lines are told apart by their order");
        assert_ne!(both[0], of("del(other);\n", &["del(other)"])[0]);
    }

    /// Baselines that people keep hold such values.
    #[test]
    fn the_value_is_kept() {
        assert_eq!(of("del(key);\n", &["del(key)"]), ["90c24098e717c3345479bada9beec543"]);
    }
}
