//! The report for people at a terminal: each finding with the source around it, then the figures.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::ops::Range;

use codespan_reporting::diagnostic::{Diagnostic, Label, Severity as Level};
use codespan_reporting::files::{Error as FilesError, Files};
use codespan_reporting::term::termcolor::{Ansi, NoColor, WriteColor};
use codespan_reporting::term::{Config, DisplayStyle, emit_to_write_style};

use super::sanitize::{self, Shown};
use super::{SourceView, rule_url, timeline};
use crate::facts::{FileId, Location};
use crate::finding::{Finding, Severity, Summary};

/// What the reader's terminal can show. The sequences are ours; none of the source's gets through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Look {
    pub colours: bool,
    /// A rule's name leads to its page (OSC 8).
    pub links: bool,
}

/// Of which findings the run is shown that ends in their harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Runs {
    None,
    /// Of the first finding of each rule.
    #[default]
    First,
    All,
}

/// Writes the report.
pub fn write(
    out: &mut dyn Write,
    findings: &[Finding],
    summary: &Summary,
    sources: &dyn SourceView,
    look: Look,
    runs: Runs,
) -> io::Result<()> {
    emit_all(out, findings, sources, DisplayStyle::Rich, look, runs)?;
    writeln!(out, "{}", closing_line(summary))
}

/// Writes one line for each finding, `path:line:column: severity[rule]: message`, as problem matchers and
/// vim's `errorformat` read it.
pub fn write_concise(
    out: &mut dyn Write,
    findings: &[Finding],
    sources: &dyn SourceView,
    look: Look,
) -> io::Result<()> {
    emit_all(out, findings, sources, DisplayStyle::Short, look, Runs::None)
}

fn emit_all(
    out: &mut dyn Write,
    findings: &[Finding],
    sources: &dyn SourceView,
    style: DisplayStyle,
    look: Look,
    runs: Runs,
) -> io::Result<()> {
    let shown = ShownFiles::new(findings, sources);
    let mut rules = BTreeSet::new();
    for finding in findings {
        let is_first = finding.counterexample.is_some() && rules.insert(finding.rule);
        let with_run = runs == Runs::All || (runs == Runs::First && is_first);
        let diagnostic = diagnostic(finding, &shown, look.links, with_run);
        if look.colours {
            emit(&mut Ansi::new(&mut *out), &diagnostic, &shown, style.clone())?;
        } else {
            emit(&mut NoColor::new(&mut *out), &diagnostic, &shown, style.clone())?;
        }
    }
    Ok(())
}

/// What [`write`] prints of each finding alone, without colours.
pub(super) fn rendered(findings: &[Finding], sources: &dyn SourceView) -> io::Result<Vec<String>> {
    let shown = ShownFiles::new(findings, sources);
    let one = |finding| {
        let mut text = NoColor::new(Vec::new());
        emit(&mut text, &diagnostic(finding, &shown, false, false), &shown, DisplayStyle::Rich)?;
        String::from_utf8(text.into_inner()).map_err(io::Error::other)
    };
    findings.iter().map(one).collect()
}

fn emit(
    out: &mut impl WriteColor,
    diagnostic: &Diagnostic<FileId>,
    shown: &ShownFiles,
    style: DisplayStyle,
) -> io::Result<()> {
    let config = Config { display_style: style, ..Config::default() };
    emit_to_write_style(out, &config, shown, diagnostic).map_err(|error| match error {
        FilesError::Io(error) => error,
        other => io::Error::other(other.to_string()),
    })
}

fn diagnostic(finding: &Finding, shown: &ShownFiles, links: bool, with_run: bool) -> Diagnostic<FileId> {
    let level = match finding.severity {
        Severity::Error => Level::Error,
        Severity::Warning => Level::Warning,
        Severity::Info => Level::Note,
    };
    let primary = Label::primary(finding.primary.file, shown.range(finding.primary))
        .with_message(sanitize::line(&finding.primary_label));
    let related = finding.related.iter().map(|label| {
        Label::secondary(label.location.file, shown.range(label.location))
            .with_message(sanitize::line(&label.message))
    });
    let mut notes: Vec<String> = Vec::new();
    if let Some(lock) = &finding.lock {
        notes.push(format!("lock: {}", sanitize::line(lock)));
    }
    let help: Vec<_> = finding.help.lines().map(sanitize::line).collect();
    notes.push(format!("help: {}", help.join("\n      ")));
    if let Some(run) = finding.counterexample.as_ref().filter(|_| with_run) {
        let lines = timeline::lines(run, |place| shown.line_of(place));
        notes.push(format!("how it happens:\n{}", lines.join("\n")));
    }
    notes.push(format!("run `leaselint explain {}`", finding.rule));
    Diagnostic::new(level)
        .with_code(if links { linked(finding.rule) } else { finding.rule.to_owned() })
        .with_message(sanitize::line(&finding.message))
        .with_labels(std::iter::once(primary).chain(related).collect())
        .with_notes(notes)
}

/// A rule's name, as terminals that know OSC 8 make a link of it.
fn linked(rule: &str) -> String {
    format!("\u{1b}]8;;{}\u{1b}\\{rule}\u{1b}]8;;\u{1b}\\", rule_url(rule))
}

/// `2 errors, 1 warning in 12 files (3 suppressed)`.
fn closing_line(summary: &Summary) -> String {
    let counted = |count: usize, one: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{n} {one}s")),
    };
    let joined = |parts: [Option<String>; 3]| parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let found = joined([
        counted(summary.errors, "error"),
        counted(summary.warnings, "warning"),
        counted(summary.infos, "note"),
    ]);
    let found = if found.is_empty() { "no problems found".to_owned() } else { found };
    let files = if summary.files == 1 { "1 file".to_owned() } else { format!("{} files", summary.files) };
    let hidden = |count: usize, how: &str| (count > 0).then(|| format!("{count} {how}"));
    let hidden = joined([
        hidden(summary.suppressed, "suppressed"),
        hidden(summary.baselined, "in the baseline"),
        None,
    ]);
    if hidden.is_empty() { format!("{found} in {files}") } else { format!("{found} in {files} ({hidden})") }
}

/// The files that the findings stand in, made fit to be shown.
struct ShownFiles(BTreeMap<FileId, ShownFile>);

struct ShownFile {
    path: String,
    shown: Shown,
    line_starts: Vec<usize>,
}

impl ShownFiles {
    fn new(findings: &[Finding], sources: &dyn SourceView) -> Self {
        let mut files = BTreeMap::new();
        let related = |finding: &Finding| {
            let steps = finding.counterexample.iter().flat_map(|run| &run.steps);
            let steps = steps.map(|step| step.location.file);
            finding.related.iter().map(|l| l.location.file).chain(steps).collect::<Vec<_>>()
        };
        for id in findings.iter().flat_map(|f| std::iter::once(f.primary.file).chain(related(f))) {
            files.entry(id).or_insert_with(|| {
                let shown = Shown::new(sources.text(id).as_deref().unwrap_or(""));
                let path = sanitize::line(sources.path(id)).into_owned();
                let line_starts = codespan_reporting::files::line_starts(shown.text()).collect();
                ShownFile { path, shown, line_starts }
            });
        }
        Self(files)
    }

    fn get(&self, id: FileId) -> Result<&ShownFile, FilesError> {
        self.0.get(&id).ok_or(FilesError::FileMissing)
    }

    /// Such as `src/lib.rs:12`.
    fn line_of(&self, location: Location) -> String {
        let Ok(file) = self.get(location.file) else { return String::new() };
        let start = self.range(location).start;
        format!("{}:{}", file.path, file.line_starts.partition_point(|line| *line <= start))
    }

    /// The shown place of a location. A span of nothing becomes a caret at its start.
    fn range(&self, location: Location) -> Range<usize> {
        let Some(file) = self.0.get(&location.file) else {
            return 0..0;
        };
        let start = file.shown.offset(location.span.start as usize);
        let end = file.shown.offset(location.span.end as usize).max(start);
        start..end
    }
}

impl<'a> Files<'a> for ShownFiles {
    type FileId = FileId;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: FileId) -> Result<&'a str, FilesError> {
        Ok(&self.get(id)?.path)
    }

    fn source(&'a self, id: FileId) -> Result<&'a str, FilesError> {
        Ok(self.get(id)?.shown.text())
    }

    fn line_index(&'a self, id: FileId, byte: usize) -> Result<usize, FilesError> {
        Ok(self.get(id)?.line_starts.partition_point(|start| *start <= byte).saturating_sub(1))
    }

    fn line_range(&'a self, id: FileId, line: usize) -> Result<Range<usize>, FilesError> {
        let file = self.get(id)?;
        let max = file.line_starts.len();
        let start = *file.line_starts.get(line).ok_or(FilesError::LineTooLarge { given: line, max })?;
        let end = file.line_starts.get(line + 1).copied().unwrap_or(file.shown.text().len());
        Ok(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Files, across_files, finding};
    use super::*;

    fn render(files: &Files, findings: &[Finding], colour: bool) -> String {
        let summary = Summary { files: 2, errors: 1, ..Summary::default() };
        let mut out = Vec::new();
        let look = Look { colours: colour, links: false };
        write(&mut out, findings, &summary, files, look, Runs::All).expect("a vector takes everything");
        String::from_utf8(out).expect("reports are UTF-8")
    }

    #[test]
    fn a_finding_with_places_in_two_files() {
        let (files, findings) = across_files();
        insta::assert_snapshot!(render(&files, &findings, false), @r"
        error[unreadable-input]: the release can delete another holder's lock
          ┌─ src/lock.rs:3:9
          │
        2 │     if get(key) == owner {
          │        ----------------- compared here
        3 │         del(key);
          │         ^^^^^^^^ deleted here
          │
          ┌─ src/kv.rs:2:5
          │
        2 │     conn.del(key);
          │     ------------- the command that deletes
          │
          = lock: job-lock:{}
          = help: compare and delete in one script
          = run `leaselint explain unreadable-input`

        1 error in 2 files
        ");
    }

    #[test]
    fn one_line_for_each_finding() {
        let (files, mut findings) = across_files();
        findings[0].message = "two\nlines: \u{1b}[31m".to_owned();
        findings.push(finding(&files, 1, "conn"));
        let mut out = Vec::new();
        write_concise(&mut out, &findings, &files, Look::default()).expect("a vector takes everything");
        insta::assert_snapshot!(String::from_utf8(out).expect("reports are UTF-8"), @r"
        src/lock.rs:3:9: error[unreadable-input]: two␊lines: ␛[31m
        src/kv.rs:2:5: warning[unreadable-input]: the release can delete another holder's lock
        ");
    }

    #[test]
    fn colours_are_ours_alone() {
        let (files, findings) = across_files();
        let coloured = render(&files, &findings, true);
        assert!(coloured.contains("\u{1b}["));
        assert!(!render(&files, &findings, false).contains('\u{1b}'));
    }

    #[test]
    fn a_link_is_around_the_name_of_the_rule_and_nowhere_else() {
        let (files, findings) = across_files();
        let write = |links| {
            let mut out = Vec::new();
            write(
                &mut out,
                &findings,
                &Summary::default(),
                &files,
                Look { links, colours: false },
                Runs::None,
            )
            .expect("a vector takes everything");
            String::from_utf8(out).expect("reports are UTF-8")
        };
        let linked = linked("unreadable-input");
        assert!(linked.contains(&rule_url("unreadable-input")));
        assert!(write(true).starts_with(&format!("error[{linked}]: ")), "{:?}", write(true));
        assert_eq!(write(true).replace(&linked, "unreadable-input"), write(false));
    }

    #[test]
    fn hostile_sources_are_shown_with_carets_in_place() {
        let files = Files::new(&[("src/\u{1b}[2Jbad\n.rs", "a\u{1b}[31m\u{202e} = \r del(key);\r\n")]);
        let mut one = finding(&files, 0, "del(key)");
        one.message = "\u{1b}]0;title\u{7}".to_owned();
        one.lock = Some("k\u{202e}".to_owned());
        insta::assert_snapshot!(render(&files, &[one], false), @r"
        warning[unreadable-input]: ␛]0;title␇
          ┌─ src/␛[2Jbad␊.rs:1:13
          │
        1 │ a␛[31m� = ␍ del(key);
          │             ^^^^^^^^ deleted here
          │
          = lock: k�
          = help: compare and delete in one script
          = run `leaselint explain unreadable-input`

        1 error in 2 files
        ");
    }

    #[test]
    fn a_file_without_text_has_its_name_shown() {
        let mut files = Files::new(&[("a.rs", "del(key)")]);
        files.add_unreadable("b.rs");
        let mut one = finding(&files, 0, "del(key)");
        one.primary.file = FileId(1);
        assert!(render(&files, &[one], false).contains("b.rs:1:1"));
    }

    #[test]
    fn spans_beyond_the_text_do_no_harm() {
        let files = Files::new(&[("a.rs", "é"), ("b.rs", "")]);
        for (file, start, end) in [(0, 1, 1), (0, 5, 9), (1, 0, 0), (1, 3, 1), (0, 2, 0)] {
            let mut one = finding(&files, 0, "é");
            one.primary = Location { file: FileId(file), span: crate::facts::Span { start, end } };
            assert!(render(&files, &[one], false).contains(".rs:1:"));
        }
    }

    #[test]
    fn the_closing_line() {
        let line = |errors, warnings, infos, files, suppressed, baselined| {
            closing_line(&Summary { files, parsed: 0, errors, warnings, infos, suppressed, baselined })
        };
        assert_eq!(line(2, 1, 0, 12, 3, 0), "2 errors, 1 warning in 12 files (3 suppressed)");
        assert_eq!(line(0, 0, 0, 12, 0, 0), "no problems found in 12 files");
        assert_eq!(line(1, 0, 2, 1, 1, 4), "1 error, 2 notes in 1 file (1 suppressed, 4 in the baseline)");
    }
}
