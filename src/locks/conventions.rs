//! What a project says of its own names: columns, tables and keys that its configuration declares, before
//! what [`super::naming`] guesses from their words.

use super::naming::{self, TokenTier};

/// Names that need no guess. Columns are `column` or `table.column`, in any case of letters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conventions {
    pub token_columns: Vec<String>,
    pub owner_columns: Vec<String>,
    pub expiry_columns: Vec<String>,
    pub lock_tables: Vec<String>,
    /// Key templates such as `turn:{}`; `*` stands for any text.
    pub lock_keys: Vec<String>,
    /// The servers know `DELEX key IFEQ value` (Redis 8.4).
    pub has_delex: bool,
}

impl Conventions {
    /// Whether the project calls this column a fencing token.
    pub fn declares_token(&self, table: &str, column: &str) -> bool {
        names(&self.token_columns, table, column)
    }

    /// As [`naming::token_tier`]; a declared token leaves no doubt.
    pub fn token_tier(&self, table: &str, column: &str) -> Option<TokenTier> {
        if self.declares_token(table, column) {
            return Some(TokenTier::Fence);
        }
        naming::token_tier(column)
    }

    pub fn is_owner(&self, table: &str, column: &str) -> bool {
        names(&self.owner_columns, table, column) || naming::is_owner(column)
    }

    pub fn is_deadline(&self, table: &str, column: &str) -> bool {
        names(&self.expiry_columns, table, column) || naming::is_deadline(column)
    }

    /// Whether the project says that the rows of this table are locks.
    pub fn declares_lock_table(&self, table: &str) -> bool {
        self.lock_tables.iter().any(|declared| declared.eq_ignore_ascii_case(table))
    }

    pub fn is_lock_table(&self, table: &str) -> bool {
        self.declares_lock_table(table) || naming::is_lock_table(table)
    }

    /// Whether the project says that this key is a lock.
    pub fn declares_lock_key(&self, template: &str) -> bool {
        self.lock_keys.iter().any(|pattern| fits(pattern, template))
    }
}

fn names(declared: &[String], table: &str, column: &str) -> bool {
    declared.iter().any(|name| match name.rsplit_once('.') {
        Some((of, name)) => of.eq_ignore_ascii_case(table) && name.eq_ignore_ascii_case(column),
        None => name.eq_ignore_ascii_case(column),
    })
}

/// Whether a text has the parts of a pattern between its `*`, in their order.
fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_has_its_parts_in_order() {
        for (pattern, text) in [
            ("turn:{}", "turn:{}"),
            ("turn:*", "turn:{}:seat"),
            ("*:seat", "turn:{}:seat"),
            ("t*n:*t", "turn:{}:seat"),
            ("*", ""),
        ] {
            assert!(fits(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in
            [("turn:{}", "turn:{}:x"), ("turn:*", "a:turn:{}"), ("a*a", "a"), ("*b*c", "cb"), ("", "a")]
        {
            assert!(!fits(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn a_column_may_belong_to_one_table() {
        let declared = vec!["guard_no".to_owned(), "Jobs.turn".to_owned()];
        assert!(names(&declared, "anything", "GUARD_NO") && names(&declared, "jobs", "turn"));
        assert!(!names(&declared, "people", "turn"));
    }
}
