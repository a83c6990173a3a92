//! Which reported finding meets which expectation of a labelled case, and the counts and rates that follow.
//! The rules are those of `eval/run_eval.py`.

use std::fmt;

use serde::Deserialize;

use crate::tool::Finding;

/// An `expect.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expectations {
    /// The rule group that the case exercises.
    pub(crate) kind: String,
    /// What the case is modelled on: for people, not for the score.
    #[expect(dead_code, reason = "named so that an unknown key is still an error")]
    source: String,
    #[serde(default)]
    pub(crate) clean: bool,
    #[serde(default)]
    pub(crate) finding: Vec<Wanted>,
    /// May be reported or not, and counts neither way.
    #[serde(default)]
    pub(crate) allowed: Vec<Wanted>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    pub(crate) file: Option<String>,
    pub(crate) line: Option<usize>,
    pub(crate) end_line: Option<usize>,
    pub(crate) rule: String,
    /// Rules that are equally right here.
    #[serde(default)]
    pub(crate) also: Vec<String>,
    /// Places, `file:line`, that are equally right.
    #[serde(default)]
    pub(crate) or_at: Vec<String>,
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} {}", self.file.as_deref().unwrap_or("?"), self.line.unwrap_or(0), self.rule)
    }
}

impl Wanted {
    fn is_met_by(&self, finding: &Finding) -> bool {
        if finding.rule != self.rule && !self.also.contains(&finding.rule) {
            return false;
        }
        let here = plain(&finding.path);
        let same_file = self.file.as_deref().is_none_or(|file| plain(file) == here);
        let Some(line) = self.line else {
            return same_file;
        };
        let last = self.end_line.unwrap_or(line);
        if same_file && (line.saturating_sub(1)..=last + 1).contains(&finding.line()) {
            return true;
        }
        self.or_at.iter().any(|place| is_near(place, here, finding.line()))
            || self.is_met_by_related(finding, line)
    }

    fn is_met_by_related(&self, finding: &Finding, line: usize) -> bool {
        let file = self.file.as_deref().map(plain);
        finding
            .related
            .iter()
            .any(|related| Some(plain(&related.path)) == file && related.span.start.line == line)
    }
}

fn plain(path: &str) -> &str {
    path.trim_start_matches(['.', '/'])
}

fn is_near(place: &str, path: &str, line: usize) -> bool {
    place
        .rsplit_once(':')
        .is_some_and(|(file, at)| file == path && at.parse::<usize>().is_ok_and(|at| at.abs_diff(line) <= 1))
}

/// What one case gave.
#[derive(Debug, Default)]
pub(crate) struct Scored {
    pub(crate) hits: usize,
    pub(crate) missed: Vec<Wanted>,
    pub(crate) extra: Vec<Finding>,
}

/// Each expectation takes the first finding that meets it, so that one finding never counts twice.
pub(crate) fn score(expected: &Expectations, reported: &[Finding]) -> Scored {
    let mut left = reported.to_vec();
    let mut scored = Scored::default();
    for wanted in &expected.finding {
        match left.iter().position(|finding| wanted.is_met_by(finding)) {
            Some(at) => {
                left.remove(at);
                scored.hits += 1;
            }
            None => scored.missed.push(wanted.clone()),
        }
    }
    left.retain(|finding| !expected.allowed.iter().any(|allowed| allowed.is_met_by(finding)));
    scored.extra = left;
    scored
}

/// Counts over several cases.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    hits: usize,
    missed: usize,
    extra: usize,
}

impl Tally {
    pub(crate) fn add(&mut self, scored: &Scored) {
        self.hits += scored.hits;
        self.missed += scored.missed.len();
        self.extra += scored.extra.len();
    }

    pub(crate) fn merge(&mut self, other: &Tally) {
        self.hits += other.hits;
        self.missed += other.missed;
        self.extra += other.extra;
    }

    pub(crate) fn precision(&self) -> f64 {
        share(self.hits, self.extra)
    }

    pub(crate) fn recall(&self) -> f64 {
        share(self.hits, self.missed)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "hits {:3} missed {:3} false {:3}  precision {:.2} recall {:.2}",
            self.hits,
            self.missed,
            self.extra,
            self.precision(),
            self.recall()
        )
    }
}

fn share(part: usize, rest: usize) -> f64 {
    if part + rest == 0 { 1.0 } else { part as f64 / (part + rest) as f64 }
}

#[cfg(test)]
mod tests {
    use super::{Expectations, Finding, Tally, score};

    const CASE: &str = "kind = 'release'\nsource = 's'\n[[finding]]\nfile = 'src/a.rs'\nline = 10\nend_line = 12\n\
        rule = 'get-then-del'\nalso = ['unguarded-release']\nor_at = ['src/free.lua:3']\n\
        [[allowed]]\nrule = 'release-in-drop'";

    fn tally(findings: &str) -> (usize, usize, usize) {
        let expected: Expectations = toml::from_str(CASE).unwrap();
        let reported: Vec<Finding> = serde_json::from_str(findings).unwrap();
        let mut tally = Tally::default();
        tally.add(&score(&expected, &reported));
        (tally.hits, tally.missed, tally.extra)
    }

    fn finding(rule: &str, path: &str, line: usize, related: &str) -> String {
        format!(
            r#"{{"rule": "{rule}", "confidence": "high", "message": "m", "path": "{path}",
                 "span": {{"start": {{"line": {line}}}}}, "related": [{related}]}}"#
        )
    }

    fn one(rule: &str, path: &str, line: usize) -> (usize, usize, usize) {
        tally(&format!("[{}]", finding(rule, path, line, "")))
    }

    #[test]
    fn a_finding_within_one_line_of_the_range_is_a_hit() {
        assert_eq!(one("get-then-del", "src/a.rs", 9), (1, 0, 0));
        assert_eq!(one("unguarded-release", "./src/a.rs", 13), (1, 0, 0));
        assert_eq!(one("get-then-del", "src/a.rs", 14), (0, 1, 1));
        assert_eq!(one("get-then-del", "src/b.rs", 10), (0, 1, 1));
        assert_eq!(one("split-acquire", "src/a.rs", 10), (0, 1, 1));
    }

    #[test]
    fn the_other_place_and_a_related_span_count_too() {
        assert_eq!(one("get-then-del", "src/free.lua", 4), (1, 0, 0));
        assert_eq!(one("get-then-del", "src/free.lua", 5), (0, 1, 1));
        let related = r#"{"path": "src/a.rs", "span": {"start": {"line": 10}}}"#;
        assert_eq!(tally(&format!("[{}]", finding("get-then-del", "src/b.rs", 1, related))), (1, 0, 0));
        let off_by_one = related.replace("10", "11");
        assert_eq!(tally(&format!("[{}]", finding("get-then-del", "src/b.rs", 1, &off_by_one))), (0, 1, 1));
    }

    #[test]
    fn an_allowed_finding_counts_neither_way_and_a_second_hit_is_false() {
        assert_eq!(one("release-in-drop", "src/z.rs", 99), (0, 1, 0));
        let hit = finding("get-then-del", "src/a.rs", 10, "");
        assert_eq!(tally(&format!("[{hit}, {hit}]")), (1, 0, 1));
    }

    #[test]
    fn rates_of_nothing_are_full() {
        let none = Tally::default();
        assert_eq!((none.precision(), none.recall()), (1.0, 1.0));
        let some = Tally { hits: 3, missed: 2, extra: 1 };
        assert_eq!((some.precision(), some.recall()), (0.75, 0.6));
    }
}
