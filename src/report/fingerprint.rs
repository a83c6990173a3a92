//! The identity of a finding over time, for baselines and for services that track findings.
//!
//! It depends on what was found and on the text of its line, not on where the line stands, so that
//! code above it may come and go. The hash is a fixed one and is never changed within a schema number.

use std::collections::BTreeMap;

use siphasher::sip128::SipHasher13;

use super::SourceView;
use crate::facts::FileId;
use crate::facts::lines::LineIndex;
use crate::finding::Finding;

/// One fingerprint for each finding, in their order.
pub fn all(findings: &[Finding], sources: &dyn SourceView) -> Vec<String> {
    let mut indices: BTreeMap<FileId, Option<(std::sync::Arc<str>, LineIndex)>> = BTreeMap::new();
    let mut seen: BTreeMap<[String; 4], u32> = BTreeMap::new();
    let mut out = Vec::with_capacity(findings.len());
    for finding in findings {
        let file = finding.primary.file;
        let text = indices.entry(file).or_insert_with(|| {
            sources.text(file).map(|text| {
                let index = LineIndex::new(&text);
                (text, index)
            })
        });
        let line = text.as_ref().map_or("", |(text, index)| index.line_at(text, finding.primary.span.start));
        let identity = [
            finding.rule.to_owned(),
            sources.path(file).to_owned(),
            finding.lock.clone().unwrap_or_default(),
            line.split_whitespace().collect::<Vec<_>>().join(" "),
        ];
        let ordinal = seen.entry(identity.clone()).or_default();
        out.push(hash(&identity, *ordinal));
        *ordinal += 1;
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
    fn what_differs_has_another() {
        let both = of("del(key); \n  del(key);\n", &["del", "  del"]);
        assert_ne!(both[0], both[1], "equal lines are told apart by their order");
        assert_ne!(both[0], of("del(other);\n", &["del"])[0]);
    }

    /// Baselines that people keep hold such values.
    #[test]
    fn the_value_is_kept() {
        assert_eq!(of("del(key);\n", &["del"]), ["ebabe72014730f539197e00fa1249e65"]);
    }
}
