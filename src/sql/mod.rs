//! To be written.

/// Whether a text reads like a statement.
pub fn looks_like_statement(_text: &str) -> bool {
    false
}
