//! Reports: what is written as JSON is read as the same values, what is kept comes back, and no place, however odd,
//! stops a format.

use std::sync::Arc;

use leaselint::facts::{FileId, Location, Span};
use leaselint::finding::{
    Actor, Applicability, Confidence, Counterexample, Edit, Finding, Fix, Label, RunStep, Severity, Summary,
};
use leaselint::harm::Harm;
use leaselint::report::human::{self, Look, Runs};
use leaselint::report::{SourceView, checkstyle, github, gitlab, json, junit, rdjson, rustc, sarif};
use leaselint::rules;
use proptest::prelude::*;
use serde_json::Value;

use crate::cases;

/// Paths and texts, by number.
#[derive(Debug, Clone)]
struct Files(Vec<(String, String)>);

impl SourceView for Files {
    fn path(&self, file: FileId) -> &str {
        &self.0[file.0 as usize].0
    }

    fn text(&self, file: FileId) -> Option<Arc<str>> {
        Some(Arc::from(self.0[file.0 as usize].1.as_str()))
    }
}

const TEXT: &str = "(?s).{0,24}";

fn files() -> impl Strategy<Value = Files> {
    let text =
        prop::collection::vec(prop_oneof!["[a-z(){}; ]{0,12}", Just("\n".to_owned()), "\\PC{0,3}"], 0..12);
    prop::collection::vec(("\\PC{1,12}", text.prop_map(|parts| parts.concat())), 1..4).prop_map(Files)
}

type Ends = (prop::sample::Index, prop::sample::Index, prop::sample::Index);

/// A place in one of the files that cuts no character.
fn placed(files: &Files, (file, start, end): &Ends) -> Location {
    let file = file.index(files.0.len());
    let text = &files.0[file].1;
    let ends: Vec<usize> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
    let (start, end) = (ends[start.index(ends.len())], ends[end.index(ends.len())]);
    let span = Span::new(start.min(end) as u32, start.max(end) as u32);
    Location { file: FileId(file as u32), span }
}

fn findings() -> impl Strategy<Value = (Files, Vec<Finding>)> {
    let levels = (
        prop::sample::select(vec![Severity::Info, Severity::Warning, Severity::Error]),
        prop::sample::select(vec![Confidence::Low, Confidence::Medium, Confidence::High]),
    );
    let ends = any::<Ends>;
    let related = prop::collection::vec((ends(), TEXT), 0..3);
    let edits = prop::collection::vec((ends(), TEXT), 0..3);
    let sure = prop::sample::select(vec![Applicability::Machine, Applicability::Suggestion]);
    let fixes = prop::collection::vec((TEXT, sure, edits), 0..2);
    let actor = || prop::sample::select(Actor::ALL.to_vec());
    let steps = prop::collection::vec(
        (actor(), TEXT, prop::option::of((actor(), TEXT)), ends(), any::<bool>()),
        0..4,
    );
    let run = prop::option::of((prop::sample::select(Harm::ALL.to_vec()), steps));
    let words = (TEXT, TEXT, TEXT, prop::option::of(TEXT));
    let one = (any::<prop::sample::Index>(), levels, words, ends(), related, fixes, run);
    (files(), prop::collection::vec(one, 0..4)).prop_map(|(files, all)| {
        let place = |ends: &Ends| placed(&files, ends);
        let all =
            all.into_iter().map(|(rule, (severity, confidence), words, primary, related, fixes, run)| {
                let (message, primary_label, help, lock) = words;
                let step = |(actor, action, effect, ends, is_assumed)| RunStep {
                    actor,
                    action,
                    effect,
                    location: place(&ends),
                    is_assumed,
                };
                let edit = |(ends, replacement)| Edit { location: place(&ends), replacement };
                Finding {
                    rule: rules::all()[rule.index(rules::all().len())].name,
                    severity,
                    confidence,
                    message,
                    primary: place(&primary),
                    primary_label,
                    related: related
                        .into_iter()
                        .map(|(ends, message)| Label { location: place(&ends), message })
                        .collect(),
                    lock,
                    help,
                    fixes: fixes
                        .into_iter()
                        .map(|(title, applicability, edits)| Fix {
                            title,
                            applicability,
                            edits: edits.into_iter().map(edit).collect(),
                        })
                        .collect(),
                    counterexample: run.map(|(harm, steps)| Counterexample {
                        harm,
                        steps: steps.into_iter().map(step).collect(),
                    }),
                }
            });
        let all = all.collect();
        (files, all)
    })
}

/// Whether the place in the report is that of the finding.
fn assert_is_at(files: &Files, read: &Value, place: Location) {
    let text = &files.0[place.file.0 as usize].1;
    assert_eq!(read["path"], files.path(place.file));
    for (end, offset) in [("start", place.span.start), ("end", place.span.end)] {
        let before = &text[..offset as usize];
        let line = before.rsplit('\n').next().unwrap_or_default();
        let column =
            line.chars().count() - usize::from(line.len() == before.len() && before.starts_with('\u{feff}'));
        let read = &read["span"][end];
        assert_eq!(read["offset"], offset);
        assert_eq!(read["line"], before.matches('\n').count() + 1);
        assert_eq!(read["column"], column + 1);
    }
}

fn assert_is_read(files: &Files, read: &Value, finding: &Finding) {
    assert_eq!(read["rule"], finding.rule);
    assert_eq!(read["message"], finding.message.as_str());
    assert_eq!(read["help"], finding.help.as_str());
    assert_eq!(read["lock"].as_str(), finding.lock.as_deref());
    assert_eq!(read["severity"], format!("{:?}", finding.severity).to_lowercase());
    assert_eq!(read["confidence"], format!("{:?}", finding.confidence).to_lowercase());
    assert_is_at(files, read, finding.primary);
    let list = |read: &Value, name: &str| read[name].as_array().unwrap().clone();
    let related = list(read, "related");
    assert_eq!(related.len(), finding.related.len());
    for (read, label) in related.iter().zip(&finding.related) {
        assert_eq!(read["message"], label.message.as_str());
        assert_is_at(files, read, label.location);
    }
    let fixes = list(read, "fixes");
    assert_eq!(fixes.len(), finding.fixes.len());
    for (read, fix) in fixes.iter().zip(&finding.fixes) {
        assert_eq!(read["title"], fix.title.as_str());
        assert_eq!(read["applicability"] == "safe", fix.applicability == Applicability::Machine);
        let edits = list(read, "edits");
        assert_eq!(edits.len(), fix.edits.len());
        for (read, edit) in edits.iter().zip(&fix.edits) {
            assert_eq!(read["replacement"], edit.replacement.as_str());
            assert_is_at(files, read, edit.location);
        }
    }
    let steps = finding.counterexample.iter().flat_map(|run| &run.steps);
    let written = list(read, "counterexample");
    assert_eq!(written.len(), steps.clone().count());
    for (read, step) in written.iter().zip(steps) {
        assert_eq!(read["actor"], step.actor.name());
        assert_eq!(read["action"], step.action.as_str());
        assert_eq!(read["assumed"], step.is_assumed);
        assert_eq!(read["effect"]["text"].as_str(), step.effect.as_ref().map(|(_, text)| text.as_str()));
        assert_is_at(files, read, step.location);
    }
}

/// The report in every form that has places.
fn write_all(findings: &[Finding], files: &Files) {
    let mut out = Vec::new();
    let summary = Summary::default();
    human::write(&mut out, findings, &summary, files, Look::default(), Runs::All).unwrap();
    human::write_concise(&mut out, findings, files, Look::default()).unwrap();
    for write in [
        sarif::write,
        rustc::write,
        github::write,
        gitlab::write,
        rdjson::write,
        rdjson::write_lines,
        junit::write,
        checkstyle::write,
    ] {
        write(&mut out, findings, files).unwrap();
    }
    json::write(&mut out, findings, &summary, files).unwrap();
}

proptest! {
    #![proptest_config(cases(80))]

    #[test]
    fn json_is_read_as_it_was_meant((files, findings) in findings(), counts in any::<[u16; 7]>()) {
        let [one, two, three, four, five, six, seven] = counts.map(usize::from);
        let summary = Summary {
            files: one, parsed: two, errors: three, warnings: four, infos: five, suppressed: six, baselined: seven,
        };
        let mut out = Vec::new();
        json::write(&mut out, &findings, &summary, &files).unwrap();
        let report: Value = serde_json::from_slice(&out).unwrap();
        prop_assert_eq!(serde_json::from_value::<Summary>(report["summary"].clone()).unwrap(), summary);
        let read = report["findings"].as_array().unwrap();
        prop_assert_eq!(read.len(), findings.len());
        for (read, finding) in read.iter().zip(&findings) {
            assert_is_read(&files, read, finding);
        }
    }

    #[test]
    fn findings_are_kept((_, findings) in findings()) {
        let bytes = postcard::to_stdvec(&findings).unwrap();
        prop_assert_eq!(&postcard::from_bytes::<Vec<Finding>>(&bytes).unwrap(), &findings);
        let text = serde_json::to_string(&findings).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Vec<Finding>>(&text).unwrap(), &findings);
    }

    #[test]
    fn no_place_stops_a_report((files, mut findings) in findings(), shift in any::<[u8; 8]>()) {
        let mut shifts = shift.into_iter().cycle();
        for place in findings.iter_mut().flat_map(Finding::locations_mut) {
            // Into a character, behind the end, or before the start.
            place.span.start = place.span.start.wrapping_add(u32::from(shifts.next().unwrap_or_default() % 4));
            place.span.end = place.span.end.wrapping_sub(1).wrapping_add(u32::from(shifts.next().unwrap_or_default()));
        }
        write_all(&findings, &files);
    }
}
