//! Reads `expected.md`, what a person found in the corpus without the tool, and says how far a run agrees. It
//! is an opinion to compare with and fails nothing but its own mistakes: a place that does not exist.

use std::fmt;
use std::path::Path;

use crate::record::Place;

/// How near a finding must be to a place to speak of the same thing.
const NEAR: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grade {
    /// A defect that the sources show.
    Sure,
    /// Reporting it and staying silent are both fine.
    Arguable,
    /// A defect that the tool is not expected to see.
    Beyond,
    /// A report here is false.
    Silent,
}

/// A finding of a run.
pub(crate) struct Reported {
    pub(crate) place: Place,
    /// The other places that it points at.
    pub(crate) beside: Vec<Place>,
}

impl Reported {
    fn is_spoken_of(&self, entry: &Expected) -> bool {
        std::iter::once(&self.place).chain(&self.beside).any(|place| entry.speaks_of(place))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Expected {
    pub(crate) package: String,
    pub(crate) version: String,
    pub(crate) grade: Grade,
    pub(crate) path: String,
    pub(crate) first: usize,
    pub(crate) last: usize,
    /// `any` stands for every rule.
    pub(crate) rule: String,
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}:{} {}", self.package, self.path, self.first, self.rule)
    }
}

impl Expected {
    pub(crate) fn speaks_of(&self, place: &Place) -> bool {
        self.package == place.package
            && self.path == place.path
            && (self.rule == "any" || self.rule == place.rule)
            && (self.first.saturating_sub(NEAR)..=self.last + NEAR).contains(&place.line)
    }

    /// What is wrong with the place, given the crate's folder.
    pub(crate) fn fault(&self, folder: &Path) -> Option<String> {
        match std::fs::read_to_string(folder.join(&self.path)) {
            Err(err) => Some(format!("{self}: {err}")),
            Ok(text) if text.lines().count() < self.first => Some(format!("{self}: the file is shorter")),
            Ok(_) => None,
        }
    }
}

/// The lines of the form `- grade · path:line · rule · why`, each under the heading of its crate.
pub(crate) fn parse(text: &str) -> Result<Vec<Expected>, String> {
    let mut crate_of_section = None;
    let mut entries = Vec::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            crate_of_section = heading.split_once(' ');
        } else if let Some(entry) = line.strip_prefix("- ").filter(|entry| entry.contains(" · ")) {
            let (package, version) = crate_of_section.ok_or(format!("no crate before: {line}"))?;
            entries.push(parse_entry(package, version, entry).ok_or(format!("not understood: {line}"))?);
        }
    }
    Ok(entries)
}

fn parse_entry(package: &str, version: &str, entry: &str) -> Option<Expected> {
    let mut parts = entry.splitn(4, " · ");
    let grade = match parts.next()? {
        "sure" => Grade::Sure,
        "arguable" => Grade::Arguable,
        "beyond" => Grade::Beyond,
        "silent" => Grade::Silent,
        _ => return None,
    };
    let (path, lines) = parts.next()?.rsplit_once(':')?;
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    let rule = parts.next()?.to_owned();
    parts.next().filter(|why| !why.trim().is_empty())?;
    let (package, version, path) = (package.to_owned(), version.to_owned(), path.to_owned());
    (first <= last).then_some(Expected { package, version, grade, path, first, last, rule })
}

/// How a run compares with the reader, one line a disagreement and a summary last.
///
/// A finding may start at another of its places than the reader's: at the statement's text and not at the call
/// that runs it. A place beside the first one is enough to agree, never to be refused.
pub(crate) fn agreement(expected: &[Expected], reported: &[Reported]) -> Vec<String> {
    let sure: Vec<&Expected> = expected.iter().filter(|entry| entry.grade == Grade::Sure).collect();
    let (seen, unseen): (Vec<&Expected>, Vec<&Expected>) =
        sure.iter().partition(|entry| reported.iter().any(|finding| finding.is_spoken_of(entry)));
    let mut lines: Vec<String> = unseen.iter().map(|entry| format!("read, not reported: {entry}")).collect();
    let (mut welcome, mut refused, mut unread) = (0, 0, 0);
    for finding in reported {
        let place = &finding.place;
        let mentions: Vec<Grade> = expected
            .iter()
            .filter(|entry| {
                entry.speaks_of(place) || (entry.grade != Grade::Silent && finding.is_spoken_of(entry))
            })
            .map(|entry| entry.grade)
            .collect();
        if mentions.iter().any(|grade| *grade != Grade::Silent) {
            welcome += 1;
        } else if mentions.is_empty() {
            unread += 1;
        } else {
            refused += 1;
            lines.push(format!("reported where the reader says silence: {place}"));
        }
    }
    lines.push(format!(
        "against the reader: {} of {} sure defects reported; of {} findings {welcome} agree, {refused} are \
         refused, {unread} are not mentioned",
        seen.len(),
        sure.len(),
        reported.len()
    ));
    lines
}
