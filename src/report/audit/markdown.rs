//! An audit as Markdown, for a pull request or a wiki.

use std::io::{self, Write};

use super::{Document, closing_line, failed, lives, place, reason};
use crate::audit::Item;
use crate::report::{sanitize, timeline};

pub fn write(out: &mut dyn Write, document: &Document<'_>) -> io::Result<()> {
    let mut places = document.places();
    writeln!(out, "# Locks\n\n{}\n", closing_line(document.audit))?;
    writeln!(out, "| lock | storage | atomic | clock | shutdown |\n|---|---|---|---|---|")?;
    for lock in &document.audit.locks {
        let words: Vec<&str> = lock.verdicts.iter().map(|verdict| verdict.word()).collect();
        writeln!(out, "| {} | {} |", code(&lock.name), words.join(" | "))?;
    }
    for lock in &document.audit.locks {
        writeln!(out, "\n## {}\n", code(&lock.name))?;
        writeln!(out, "- store: {}", lock.store)?;
        writeln!(out, "- evidence: {}", text(&lock.evidence.join("; ")))?;
        writeln!(out, "- lasts: {}", text(&lock.lifetime))?;
        writeln!(out, "- renewals: {}", text(&lock.rhythm))?;
        for (heading, uses) in lives(lock) {
            for one in uses {
                let at = place(one.location, &mut places);
                writeln!(out, "- {heading}: {} {}", code(&at), text(&one.how))?;
            }
        }
        writeln!(out, "- shutdown: {}\n", text(&lock.shutdown))?;
        writeln!(out, "| item | verdict | why |\n|---|---|---|")?;
        for (item, verdict) in Item::ALL.into_iter().zip(&lock.verdicts) {
            let findings: Vec<String> = failed(verdict)
                .iter()
                .filter_map(|at| document.finding(*at))
                .map(|finding| {
                    format!(
                        "{} {} ({})",
                        code(&place(finding.primary, &mut places)),
                        text(&finding.message),
                        finding.rule
                    )
                })
                .collect();
            let why = if findings.is_empty() { text(reason(verdict)) } else { findings.join("; ") };
            writeln!(out, "| {} | {} | {why} |", item.title(), verdict.word())?;
        }
        for one in &lock.unresolved {
            writeln!(out, "\nNot known: {}; {}.", text(&one.what), text(&one.declare))?;
        }
        for finding in lock.findings.iter().filter_map(|at| document.finding(*at)) {
            let Some(run) = &finding.counterexample else { continue };
            writeln!(out, "\n{}:\n", text(&finding.message))?;
            for line in timeline::lines(run, |location| place(location, &mut places)) {
                writeln!(out, "    {line}")?;
            }
        }
    }
    Ok(())
}

/// Foreign text, so that nothing of it is read as Markdown.
fn text(text: &str) -> String {
    let mut out = String::new();
    let mut is_code = false;
    for c in sanitize::line(text).chars() {
        match c {
            '`' => is_code = !is_code,
            '|' => out.push('\\'),
            '\\' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '&' if !is_code => out.push('\\'),
            _ => {}
        }
        out.push(c);
    }
    // A lone backtick would open a span that ends far below.
    if is_code { out.replace('`', "'") } else { out }
}

fn code(text: &str) -> String {
    format!("`{}`", sanitize::line(text).replace('`', "'").replace('|', "\\|"))
}
