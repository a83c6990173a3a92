//! The report for code scanning: SARIF 2.1.0.
//!
//! All rules are listed, not only those that found something, so that the list is the same for every run.
//! GitHub shows related places only where the message links to them, and the steps of a code flow as a list.

mod log;

use std::collections::BTreeMap;
use std::io::{self, Write};

use log::{
    ArtifactChange, ArtifactLocation, Configuration, Content, Driver, Fix, Flow, Help, Id, Location, Log,
    PhysicalLocation, Region, Replacement, ResultProperties, Rule, RuleProperties, Run, SarifResult, Step,
    Text, ThreadFlow, Tool,
};

use super::places::Places;
use super::written::pretty_json;
use super::{HOME, SourceView, fingerprint, rule_url};
use crate::facts::{FileId, Location as Where};
use crate::finding::{self, Finding, Severity};
use crate::rules::{self, RuleInfo};

/// GitHub refuses a description that is longer.
const DESCRIPTION_LIMIT: usize = 1024;

/// Under this name, since GitHub computes `primaryLocationLineHash` in a way of its own.
const FINGERPRINT: &str = "leaselint/v1";

/// Writes the log.
pub fn write(out: &mut dyn Write, findings: &[Finding], sources: &dyn SourceView) -> io::Result<()> {
    let mut places = Places::new(sources);
    let fingerprints = fingerprint::all(findings, sources);
    let results = findings.iter().zip(fingerprints).map(|(f, print)| result(f, print, &mut places)).collect();
    let driver = Driver {
        name: env!("CARGO_PKG_NAME"),
        semantic_version: env!("CARGO_PKG_VERSION"),
        information_uri: HOME,
        rules: rules::all().iter().map(rule).collect(),
    };
    let run = Run {
        tool: Tool { driver },
        column_kind: "unicodeCodePoints",
        automation_details: Id { id: "leaselint/" },
        results,
    };
    let log =
        Log { schema: "https://json.schemastore.org/sarif-2.1.0.json", version: "2.1.0", runs: vec![run] };
    pretty_json(out, &log)
}

fn rule(from: &'static RuleInfo) -> Rule {
    Rule {
        id: from.name,
        short_description: Text { text: from.summary.clone() },
        full_description: Text { text: description(from) },
        help: Help { text: from.page, markdown: from.page },
        help_uri: rule_url(from.name),
        default_configuration: Configuration { level: level(from.severity) },
        properties: RuleProperties {
            tags: vec!["locks", &from.group],
            precision: "high",
            problem_severity: match from.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Info => "recommendation",
            },
        },
    }
}

/// The first paragraph of the page's first section.
fn description(rule: &RuleInfo) -> String {
    let section = rule.page.split("\n## ").nth(1).and_then(|section| section.split_once('\n'));
    let paragraph = section.map_or("", |(_, text)| text.trim_start().split("\n\n").next().unwrap_or(""));
    let text = if paragraph.trim().is_empty() { &rule.summary } else { paragraph };
    text.chars().take(DESCRIPTION_LIMIT).collect::<String>().trim().to_owned()
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn result<'a>(finding: &'a Finding, fingerprint: String, places: &mut Places<'_>) -> SarifResult<'a> {
    let related = finding
        .related
        .iter()
        .zip(1..)
        .map(|(label, id)| Location { id: Some(id), ..location(label.location, &label.message, places) });
    SarifResult {
        related_locations: related.collect(),
        rule_id: finding.rule,
        rule_index: rules::all().iter().position(|rule| rule.name == finding.rule),
        level: level(finding.severity),
        message: Text { text: message(finding) },
        locations: vec![location(finding.primary, &finding.primary_label, places)],
        partial_fingerprints: BTreeMap::from([(FINGERPRINT, fingerprint)]),
        code_flows: code_flow(finding, places).into_iter().collect(),
        fixes: finding.fixes.iter().map(|one| fix(one, places)).collect(),
        properties: ResultProperties { confidence: finding.confidence, lock: finding.lock.as_deref() },
    }
}

/// What can happen, links to the related places, and what to do.
fn message(finding: &Finding) -> String {
    let mut text = plain(&finding.message);
    let links: Vec<String> = finding
        .related
        .iter()
        .zip(1..)
        .map(|(label, id)| format!("[{}]({id})", plain(&label.message)))
        .collect();
    if !links.is_empty() {
        text += &format!("; see: {}", links.join(", "));
    }
    text + &format!("\nHelp: {}", plain(&finding.help))
}

/// Brackets would open a link.
fn plain(text: &str) -> String {
    text.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
}

/// The run that ends in the harm; without one, the places that lead to the finding, in the order of the rule, and
/// the finding's own at the end.
fn code_flow(finding: &Finding, places: &mut Places<'_>) -> Option<Flow> {
    if let Some(run) = &finding.counterexample {
        let last = run.steps.len();
        let steps = (1..).zip(&run.steps).map(|(order, step)| Step {
            execution_order: order,
            importance: if order == last { "essential" } else { "important" },
            location: location(step.location, &step.sentence(), places),
        });
        return Some(Flow { thread_flows: vec![ThreadFlow { locations: steps.collect() }] });
    }
    if finding.related.is_empty() {
        return None;
    }
    let mut labels: Vec<(Where, &str)> =
        finding.related.iter().map(|label| (label.location, label.message.as_str())).collect();
    labels.push((finding.primary, &finding.primary_label));
    let last = labels.len();
    let steps = (1..).zip(labels).map(|(order, (at, text))| Step {
        execution_order: order,
        importance: if order == last { "essential" } else { "important" },
        location: location(at, text, places),
    });
    Some(Flow { thread_flows: vec![ThreadFlow { locations: steps.collect() }] })
}

/// The edits, each file's together.
fn fix<'a>(from: &'a finding::Fix, places: &mut Places<'_>) -> Fix<'a> {
    let mut changes: Vec<(FileId, ArtifactChange<'a>)> = Vec::new();
    for edit in &from.edits {
        let replacement = Replacement {
            deleted_region: region(edit.location, places),
            inserted_content: Content { text: &edit.replacement },
        };
        let file = edit.location.file;
        match changes.iter_mut().find(|(of, _)| *of == file) {
            Some((_, change)) => change.replacements.push(replacement),
            None => {
                let artifact_location = ArtifactLocation { uri: uri(places.path(edit.location)) };
                changes.push((file, ArtifactChange { artifact_location, replacements: vec![replacement] }));
            }
        }
    }
    Fix {
        description: Text { text: plain(&from.title) },
        artifact_changes: changes.into_iter().map(|(_, change)| change).collect(),
    }
}

fn location(at: Where, message: &str, places: &mut Places<'_>) -> Location {
    Location {
        id: None,
        physical_location: PhysicalLocation {
            artifact_location: ArtifactLocation { uri: uri(places.path(at)) },
            region: region(at, places),
        },
        message: Text { text: plain(message) },
    }
}

fn region(at: Where, places: &mut Places<'_>) -> Region {
    let span = places.bounded(at);
    Region {
        start_line: span.start.line,
        start_column: span.start.column,
        end_line: span.end.line,
        end_column: span.end.column,
    }
}

/// A path as a reference: relative where it is, else with `file:`.
fn uri(path: &str) -> String {
    let mut uri = if path.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}
