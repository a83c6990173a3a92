//! The difference of two texts in the unified form that `patch` and `git apply` read.

use similar::TextDiff;

/// Lines around a change.
const CONTEXT: usize = 3;

/// What leads from the old text to the new one; empty where they are the same.
pub fn difference(path: &str, old: &str, new: &str) -> String {
    let names = (format!("a/{path}"), format!("b/{path}"));
    TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(CONTEXT)
        .header(&names.0, &names.1)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_line_stands_between_its_neighbours() {
        let found = difference("x.rs", "a\nb\nc\n", "a\nB\nc\n");
        assert_eq!(found, "--- a/x.rs\n+++ b/x.rs\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
        assert_eq!(difference("x.rs", "a\n", "a\n"), "");
    }
}
