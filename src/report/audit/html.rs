//! An audit as one page that needs nothing but itself: tables, and the runs drawn as sequence diagrams.
//!
//! Everything foreign is escaped. The page has no script: what opens and closes is the browser's own.

mod diagram;

use std::io::{self, Write};

use super::style::CSS;
use super::{Document, closing_line, failed, lives, place, reason};
use crate::audit::{Item, LockAudit, Verdict};
use crate::finding::Finding;
use crate::report::places::Places;
use crate::report::rule_url;
use crate::report::written::xml;

pub fn write(out: &mut dyn Write, document: &Document<'_>) -> io::Result<()> {
    let mut places = document.places();
    writeln!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>Locks: leaselint audit</title>\n\
         <style>{CSS}</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#locks\">to the locks</a>\n<header>\n\
         <h1>Locks</h1>\n<p class=\"dim\">{}</p>\n</header>",
        xml(&closing_line(document.audit))
    )?;
    overview(out, document)?;
    writeln!(out, "<main id=\"locks\">")?;
    for (number, lock) in document.audit.locks.iter().enumerate() {
        article(out, document, number, lock, &mut places)?;
    }
    writeln!(out, "</main>\n</body>\n</html>")
}

fn overview(out: &mut dyn Write, document: &Document<'_>) -> io::Result<()> {
    writeln!(
        out,
        "<nav aria-label=\"all locks\" class=\"scroll\">\n<table>\n<thead><tr><th scope=\"col\">lock</th>"
    )?;
    for item in Item::ALL {
        writeln!(out, "<th scope=\"col\">{}</th>", item.name())?;
    }
    writeln!(out, "</tr></thead>\n<tbody>")?;
    for (number, lock) in document.audit.locks.iter().enumerate() {
        write!(out, "<tr><td><a href=\"#lock-{number}\"><code>{}</code></a></td>", xml(&lock.name))?;
        for verdict in &lock.verdicts {
            write!(out, "<td>{}</td>", badge(verdict))?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody>\n</table>\n</nav>")
}

/// A word and a mark, so that it can be told without colours.
fn badge(verdict: &Verdict) -> String {
    let (class, mark) = match verdict {
        Verdict::Holds(_) => ("holds", "\u{2713}"),
        Verdict::Fails(_) => ("fails", "\u{2717}"),
        Verdict::Unknown(_) => ("open", "?"),
    };
    format!("<span class=\"{class}\"><span aria-hidden=\"true\">{mark}</span> {}</span>", verdict.word())
}

fn article(
    out: &mut dyn Write,
    document: &Document<'_>,
    number: usize,
    lock: &LockAudit,
    places: &mut Places<'_>,
) -> io::Result<()> {
    writeln!(out, "<article id=\"lock-{number}\" aria-labelledby=\"name-{number}\">")?;
    writeln!(out, "<h2 id=\"name-{number}\"><code>{}</code></h2>", xml(&lock.name))?;
    writeln!(out, "<p class=\"dim\">{}; {}</p>", xml(lock.store), prose(&lock.evidence.join("; ")))?;
    writeln!(out, "<div class=\"scroll\"><table>\n<tbody>")?;
    row(out, "lasts", &prose(&lock.lifetime))?;
    row(out, "renewals", &prose(&lock.rhythm))?;
    for (heading, uses) in lives(lock) {
        for one in uses {
            let at = place(one.location, places);
            row(out, heading, &format!("<code>{}</code> {}", xml(&at), prose(&one.how)))?;
        }
    }
    row(out, "shutdown", &prose(&lock.shutdown))?;
    for one in &lock.unresolved {
        row(out, "not known", &format!("{}: {}", prose(&one.what), prose(&one.declare)))?;
    }
    writeln!(out, "</tbody>\n</table></div>\n<h3>Checklist</h3>\n<div class=\"scroll\"><table>\n<tbody>")?;
    for (item, verdict) in Item::ALL.into_iter().zip(&lock.verdicts) {
        let findings = failed(verdict).iter().filter_map(|at| document.finding(*at));
        let listed: Vec<String> = findings.map(|finding| listed(finding, places)).collect();
        let why = if listed.is_empty() { prose(reason(verdict)) } else { listed.join("<br>") };
        writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{why}</td></tr>",
            xml(item.title()),
            badge(verdict)
        )?;
    }
    writeln!(out, "</tbody>\n</table></div>")?;
    for finding in lock.findings.iter().filter_map(|at| document.finding(*at)) {
        let Some(run) = &finding.counterexample else { continue };
        writeln!(
            out,
            "<details open>\n<summary>{}: {}</summary>\n<div class=\"scroll\">",
            xml(finding.rule),
            prose(run.harm.sentence())
        )?;
        diagram::write(out, run, |location| place(location, places))?;
        writeln!(out, "</div>\n</details>")?;
    }
    writeln!(out, "</article>")
}

fn row(out: &mut dyn Write, heading: &str, content: &str) -> io::Result<()> {
    writeln!(out, "<tr><th scope=\"row\">{heading}</th><td>{content}</td></tr>")
}

fn listed(finding: &Finding, places: &mut Places<'_>) -> String {
    format!(
        "<code>{}</code> {} (<a href=\"{}\">{}</a>)",
        xml(&place(finding.primary, places)),
        prose(&finding.message),
        xml(&rule_url(finding.rule)),
        xml(finding.rule)
    )
}

/// Escaped text with its code marked as such.
fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return xml(text);
    }
    let marked = parts.iter().enumerate().map(|(at, part)| match at % 2 {
        0 => xml(part),
        _ => format!("<code>{}</code>", xml(part)),
    });
    marked.collect()
}
