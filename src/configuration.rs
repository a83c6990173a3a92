//! `leaselint.toml`: finds it, reads it, and says where it is wrong and what to do. What its entries mean is not
//! its business.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::check::nearest_name;
use crate::resolve::ClientModel;
use crate::sources::{ReadError, read_text};

/// The name that is looked for.
const FILE_NAME: &str = "leaselint.toml";

/// What a project says of itself.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// Libraries and wrappers whose sources are not in the workspace.
    #[serde(default)]
    pub client: Vec<ClientModel>,
}

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigurationError {
    #[error("cannot read {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: ReadError },
    #[error("{}:{line}:{column}: {message}", path.display())]
    Malformed { path: PathBuf, line: usize, column: usize, message: String },
}

/// The configuration of the folders that these paths stand in: of each the nearest one, up to the root of its
/// repository. Several add up.
pub fn discover(paths: &[PathBuf], working_directory: &Path) -> Result<Configuration, ConfigurationError> {
    let found: BTreeSet<PathBuf> =
        paths.iter().filter_map(|path| nearest(&working_directory.join(path))).collect();
    let mut all = Configuration::default();
    for path in found {
        let shown = path.strip_prefix(working_directory).unwrap_or(&path).to_owned();
        all.client.extend(read(&path, &shown)?.client);
    }
    Ok(all)
}

/// Reads one file, which messages call `shown`.
pub fn read(path: &Path, shown: &Path) -> Result<Configuration, ConfigurationError> {
    let text = read_text(path)
        .map_err(|source| ConfigurationError::Unreadable { path: shown.to_owned(), source })?;
    parse(&text, shown)
}

/// The nearest file at or above a path.
fn nearest(path: &Path) -> Option<PathBuf> {
    // A path that does not exist is told by whoever opens it.
    let path = path.canonicalize().ok()?;
    for folder in path.ancestors() {
        let candidate = folder.join(FILE_NAME);
        if candidate.is_file() {
            return Some(candidate);
        }
        if folder.join(".git").exists() {
            return None;
        }
    }
    None
}

fn parse(text: &str, shown: &Path) -> Result<Configuration, ConfigurationError> {
    // The parser takes no byte-order mark, though editors leave one.
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    toml::from_str(bare).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        let (line, column) = position(bare, offset);
        let message = explained(error.message());
        ConfigurationError::Malformed { path: shown.to_owned(), line, column, message }
    })
}

/// Line and column, from 1, columns in characters.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |start| start.chars().count()) + 1;
    (line, column)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        parse(text, Path::new("leaselint.toml")).unwrap_err().to_string()
    }

    #[test]
    fn a_mistyped_key_or_word_is_answered_with_the_nearest() {
        let text = "[[client]]\nname = \"store\"\n\n[[client.metod]]\nnames = [\"put\"]\n";
        let told = error(text);
        assert!(told.starts_with("leaselint.toml:4:"), "{told}");
        assert!(told.ends_with("did you mean `method`?"), "{told}");
        let told =
            error("[[client]]\nname = \"s\"\n[[client.method]]\nnames = [\"put\"]\naction = \"sett\"\n");
        assert!(told.starts_with("leaselint.toml:5:"), "{told}");
        assert!(told.contains("`sett`") && told.ends_with("did you mean `set`?"), "{told}");
    }

    #[test]
    fn what_is_missing_or_no_toml_is_told_with_its_place() {
        let told = error("[[client]]\nname = \"s\"\n[[client.method]]\nnames = [\"put\"]\n");
        assert!(told.starts_with("leaselint.toml:3:") && told.contains("`action`"), "{told}");
        let told = error("\u{feff}\n\nclient = [[\n");
        assert!(told.starts_with("leaselint.toml:") && !told.contains('\n'), "{told}");
        assert!(parse("", Path::new("leaselint.toml")).unwrap().client.is_empty());
    }
}
