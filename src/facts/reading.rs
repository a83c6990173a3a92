//! How much of a SQL statement was understood, for those who want to know what a silence is worth.
//!
//! It says nothing about locks; it only sorts what the front end gave.

use serde::{Deserialize, Serialize};

use super::sql::{Statement, StatementKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Reading {
    /// By a grammar, or as a routine whose own statements are judged one by one.
    Parsed,
    /// By its words: a statement that concerns no row and no table of ours, or one that the grammar lacks,
    /// of which only what is said positively is used.
    Sorted,
    /// Neither: nothing is known of it.
    Unread,
}

impl Statement {
    pub fn reading(&self) -> Reading {
        match (self.parsed, &self.kind) {
            (true, StatementKind::Other { .. }) => Reading::Sorted,
            // Whatever it selects, it changes nothing.
            (false, StatementKind::Other { verb }) if verb.starts_with("SELECT") => Reading::Sorted,
            (false, StatementKind::Other { .. }) => Reading::Unread,
            (true, _) => Reading::Parsed,
            (false, _) => Reading::Sorted,
        }
    }

    /// The statements of its body, when it makes a routine or a trigger.
    pub fn body(&self) -> &[Statement] {
        match &self.kind {
            StatementKind::CreateFunction(routine) => &routine.body,
            StatementKind::CreateTrigger(trigger) => &trigger.body,
            _ => &[],
        }
    }
}
