//! Suppression comments: reads `leaselint: allow(…)` out of a file's comments, and takes the findings that
//! they cover out of a run's.
//!
//! It works on the text of one file at a time and needs no parser, so that a comment holds even in a file
//! that does not parse. It knows rules by their names and groups only.

mod comment;
mod directive;
mod lua_tokens;
mod scope;
mod sql_tokens;

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::suppression::{FileSuppressions, JudgedSuppression, Suppression, SuppressionScope};
use crate::facts::{FileId, Location, Span};
use crate::finding::Finding;
use crate::rules::RuleInfo;
use crate::sources::FileKind;
use crate::sources::rust_tokens::Tokens;
use crate::sources::tokens::{Token, TokenKind};

pub use comment::{Comment, comment_above};
use directive::{Directive, read_directive};
use scope::Code;

/// More suppressions than this make a file-level one the better choice, and each costs time.
const LIMIT: usize = 1_000;

/// The suppression comments of a file.
pub fn scan(kind: FileKind, text: &str) -> FileSuppressions {
    let mut found = FileSuppressions::default();
    // Nearly all files have none, and this search is far cheaper than the scan.
    if !text.contains("leaselint:") {
        return found;
    }
    let tokens: Vec<Token> = match kind {
        FileKind::Rust => Tokens::new(text).collect(),
        FileKind::Sql => sql_tokens::scan(text),
        FileKind::Lua => lua_tokens::scan(text),
        FileKind::Manifest | FileKind::Folder => return found,
    };
    let code = Code::new(kind, text, &tokens);
    for token in tokens.iter().filter(|token| token.kind == TokenKind::LineComment) {
        let span = to_span(token.start, token.end);
        match comment_body(kind, &text[token.start..token.end]).and_then(read_directive) {
            None => {}
            Some(Err(message)) => found.malformed.push((span, message)),
            Some(Ok(_)) if found.suppressions.len() >= LIMIT => {
                found.malformed.push((span, format!("only the first {LIMIT} suppressions of a file count")));
            }
            Some(Ok(directive)) => {
                let scope = if directive.whole_file {
                    SuppressionScope::File
                } else {
                    SuppressionScope::Span(code.covered_by(*token))
                };
                found.suppressions.extend(suppressions(directive, scope, span));
            }
        }
    }
    found
}

/// What stands behind the comment's marker; `None` for comments that document code.
fn comment_body(kind: FileKind, comment: &str) -> Option<&str> {
    if kind == FileKind::Rust {
        let body = comment.strip_prefix("//")?;
        let body = body.strip_prefix('!').unwrap_or(body);
        return (!body.starts_with('/')).then_some(body);
    }
    comment.strip_prefix("--")
}

fn suppressions(directive: Directive, scope: SuppressionScope, span: Span) -> Vec<Suppression> {
    let Directive { rules, reason, .. } = directive;
    rules.into_iter().map(|rule| Suppression { rule, reason: reason.clone(), scope, span }).collect()
}

fn to_span(start: usize, end: usize) -> Span {
    Span::new(u32::try_from(start).unwrap_or(u32::MAX), u32::try_from(end).unwrap_or(u32::MAX))
}

/// All suppressions of these files, each with the file and its position there.
pub fn judged<'a>(
    files: impl Iterator<Item = (FileId, &'a FileSuppressions)>,
) -> Vec<((FileId, usize), JudgedSuppression)> {
    let mut judged = Vec::new();
    for (file, found) in files {
        for (at, suppression) in found.suppressions.iter().enumerate() {
            let entry = JudgedSuppression {
                comment: Location { file, span: suppression.span },
                rule: suppression.rule.clone(),
                has_reason: suppression.reason.as_ref().is_some_and(|reason| !reason.trim().is_empty()),
                is_used: true,
            };
            judged.push(((file, at), entry));
        }
    }
    judged
}

/// Findings after the suppressions were applied.
#[derive(Debug, Default)]
pub struct Applied {
    pub kept: Vec<Finding>,
    pub suppressed: Vec<Finding>,
    /// Which suppressions covered something: the file, and the position in its list.
    pub used: BTreeSet<(FileId, usize)>,
}

/// The group of the rules about suppressions themselves: what a comment says of comments is not asked.
const OWN_GROUP: &str = "suppression";

/// Parts the findings that a comment covers from the others.
pub fn apply(findings: Vec<Finding>, by_file: &BTreeMap<FileId, FileSuppressions>) -> Applied {
    let mut applied = Applied::default();
    for finding in findings {
        let file = finding.primary.file;
        let all = by_file.get(&file).map_or(&[][..], |file| &file.suppressions);
        let covering: Vec<usize> = (0..all.len()).filter(|at| covers(&all[*at], &finding)).collect();
        if covering.is_empty() {
            applied.kept.push(finding);
        } else {
            applied.used.extend(covering.into_iter().map(|at| (file, at)));
            applied.suppressed.push(finding);
        }
    }
    applied
}

fn covers(suppression: &Suppression, finding: &Finding) -> bool {
    let in_scope = match suppression.scope {
        SuppressionScope::File => true,
        SuppressionScope::Span(span) => {
            let start = finding.primary.span.start;
            span.start <= start && start < span.end
        }
    };
    in_scope
        && !is_in_group(finding.rule, OWN_GROUP)
        && (suppression.rule == finding.rule || is_in_group(finding.rule, &suppression.rule))
}

fn is_in_group(rule: &str, group: &str) -> bool {
    crate::rules::find(rule).is_some_and(|rule: &RuleInfo| rule.group == group)
}

#[cfg(test)]
mod tests;
