//! Patterns of paths, written as in `.gitignore` and counted from a folder.

use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// What does not fit the form of a pattern.
#[derive(Debug, thiserror::Error)]
#[error("the pattern cannot be read: {0}")]
pub struct PatternError(String);

/// Some patterns below one folder.
#[derive(Debug, Clone)]
pub struct Patterns {
    root: PathBuf,
    written: Vec<String>,
    matcher: Gitignore,
}

impl Patterns {
    /// No pattern yet.
    pub fn below(root: &Path) -> Self {
        Self { root: root.to_owned(), written: Vec::new(), matcher: Gitignore::empty() }
    }

    /// The same patterns and one more.
    pub fn with(mut self, pattern: &str) -> Result<Self, PatternError> {
        self.written.push(pattern.to_owned());
        let failed = |error: ignore::Error| PatternError(error.to_string());
        let mut builder = GitignoreBuilder::new(&self.root);
        for pattern in &self.written {
            builder.add_line(None, pattern).map_err(failed)?;
        }
        self.matcher = builder.build().map_err(failed)?;
        Ok(self)
    }

    pub fn is_empty(&self) -> bool {
        self.written.is_empty()
    }

    /// Whether they name this path, or a folder that it is in.
    pub fn matches(&self, path: &Path, is_folder: bool) -> bool {
        match path.strip_prefix(&self.root) {
            Ok(below) if !below.as_os_str().is_empty() => {
                self.matcher.matched_path_or_any_parents(below, is_folder).is_ignore()
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_count_from_their_folder() {
        let root = Path::new("/work/tree");
        let patterns = Patterns::below(root).with("/made/").and_then(|p| p.with("*.gen.rs")).unwrap();
        let matches = |path: &str| patterns.matches(Path::new(path), false);
        assert!(matches("/work/tree/made/a.rs") && matches("/work/tree/src/x/b.gen.rs"));
        assert!(
            !matches("/work/tree/src/made/a.rs")
                && !matches("/elsewhere/made/a.rs")
                && !matches("/work/tree")
        );
        assert!(!Patterns::below(root).matches(Path::new("/work/tree/a"), false));
    }

    #[test]
    fn a_pattern_that_cannot_be_read_says_so() {
        assert!(Patterns::below(Path::new("/")).with("[z-a]").is_err());
    }
}
