//! Which findings are about which lock: by its name, or by a place of its protocol.

use crate::finding::Finding;
use crate::proof::protocol::Protocol;

pub(super) fn findings_of(protocol: &Protocol, findings: &[Finding]) -> Vec<usize> {
    let is_about = |finding: &Finding| {
        let named = finding.lock.as_ref().is_some_and(|lock| lock.eq_ignore_ascii_case(&protocol.lock));
        named
            || protocol.declared == Some(finding.primary)
            || protocol.parts().any(|part| part.is_at(finding.primary))
    };
    findings.iter().enumerate().filter(|(_, finding)| is_about(finding)).map(|(at, _)| at).collect()
}
