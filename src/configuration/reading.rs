//! From the text of a configuration to its form, and what is wrong with it: where, and what to write instead.

use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;

use super::find::Place;
use super::form::{File, Manifest};
use crate::rules;
use crate::sources::{Patterns, ReadError, read_text};
use crate::spelling::nearest_name;

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigurationError {
    #[error("cannot read {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: ReadError },
    #[error("{}:{line}:{column}: {message}", path.display())]
    Malformed { path: PathBuf, line: usize, column: usize, message: String },
    #[error("{} and [workspace.metadata.leaselint] in {} both configure leaselint; keep one of them", path.display(), manifest.display())]
    Twice { path: PathBuf, manifest: PathBuf },
}

/// A configuration and the text that it was read from.
pub(super) struct Read {
    pub(super) file: File,
    pub(super) text: String,
}

/// Reads one file.
pub(super) fn read(place: &Place) -> Result<Read, ConfigurationError> {
    let text = read_text(&place.path)
        .map_err(|source| ConfigurationError::Unreadable { path: place.shown.clone(), source })?;
    // The parser takes no byte-order mark, though editors leave one.
    let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
    let file = parse(&text, &place.shown, place.in_manifest)?;
    Ok(Read { file, text })
}

pub(super) fn parse(text: &str, shown: &Path, in_manifest: bool) -> Result<File, ConfigurationError> {
    let parsed = if in_manifest {
        toml::from_str::<Manifest>(text).map(|manifest| manifest.workspace.metadata.leaselint)
    } else {
        toml::from_str(text).map(Some)
    };
    let parsed = parsed.map_err(|error| {
        let at = error.span().unwrap_or_default();
        Check { shown, text }.error(&at, explained(error.message()))
    })?;
    Ok(parsed.unwrap_or_default())
}

/// The parser's message on one line, with what was most likely meant.
fn explained(message: &str) -> String {
    let line: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let line = line.join(", ");
    let mut names = line.split('`').skip(1).step_by(2);
    let is_unknown = line.starts_with("unknown ");
    match names.next().filter(|_| is_unknown).and_then(|typed| nearest_name(typed, names)) {
        Some(meant) => format!("{line}; did you mean `{meant}`?"),
        None => line,
    }
}

/// Looks at what the parser takes and we do not.
pub(super) struct Check<'a> {
    pub(super) shown: &'a Path,
    pub(super) text: &'a str,
}

impl Check<'_> {
    /// Every name must be a rule's or a group's.
    pub(super) fn names<'s>(
        &self,
        names: impl Iterator<Item = &'s Spanned<String>>,
    ) -> Result<(), ConfigurationError> {
        for name in names {
            rules::known_name(name.get_ref()).map_err(|error| self.error(&name.span(), error.to_string()))?;
        }
        Ok(())
    }

    pub(super) fn patterns(
        &self,
        root: &Path,
        written: &[Spanned<String>],
    ) -> Result<Patterns, ConfigurationError> {
        let mut patterns = Patterns::below(root);
        for pattern in written {
            patterns = patterns
                .with(pattern.get_ref())
                .map_err(|reason| self.error(&pattern.span(), reason.to_string()))?;
        }
        Ok(patterns)
    }

    fn error(&self, at: &Range<usize>, message: String) -> ConfigurationError {
        let (line, column) = position(self.text, at.start);
        ConfigurationError::Malformed { path: self.shown.to_owned(), line, column, message }
    }
}

/// Line and column, from 1, columns in characters.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |start| start.chars().count()) + 1;
    (line, column)
}
