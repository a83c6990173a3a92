//! An audit at a terminal.

use std::io::{self, Write};

use super::{Document, closing_line, failed, lives, place, reason};
use crate::audit::Item;
use crate::report::sanitize;

pub fn write(out: &mut dyn Write, document: &Document<'_>) -> io::Result<()> {
    let mut places = document.places();
    for lock in &document.audit.locks {
        writeln!(out, "{} ({})", sanitize::line(&lock.name), lock.store)?;
        writeln!(out, "  because   {}", sanitize::line(&lock.evidence.join("; ")))?;
        writeln!(out, "  lasts     {}", sanitize::line(&lock.lifetime))?;
        writeln!(out, "  renewals  {}", sanitize::line(&lock.rhythm))?;
        for (heading, uses) in lives(lock) {
            for one in uses {
                let at = place(one.location, &mut places);
                writeln!(out, "  {heading:9} {at} {}", sanitize::line(&one.how))?;
            }
        }
        writeln!(out, "  shutdown  {}", sanitize::line(&lock.shutdown))?;
        for (item, verdict) in Item::ALL.into_iter().zip(&lock.verdicts) {
            let line =
                format!("  {:11} {:9} {}", verdict.word(), item.name(), sanitize::line(reason(verdict)));
            writeln!(out, "{}", line.trim_end())?;
            for finding in failed(verdict).iter().filter_map(|at| document.finding(*at)) {
                let at = place(finding.primary, &mut places);
                writeln!(out, "{:24}{at} {}: {}", "", finding.rule, sanitize::line(&finding.message))?;
            }
        }
        for one in &lock.unresolved {
            writeln!(out, "  unknown   {}: {}", sanitize::line(&one.what), one.declare)?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{}", closing_line(document.audit))
}
