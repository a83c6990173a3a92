//! What one function does in order: operations on keys, statements, transactions, and its exits. Which of
//! these steps take or free a lock is worked out in [`super::regions`].

use crate::facts::Location;

/// The steps of one function, its helpers included.
#[derive(Debug, Clone)]
pub struct Timeline {
    /// Such as `Importer::run`.
    pub function: String,
    /// Its operations on keys, by their position in [`super::Inventory::sequences`].
    pub sequence: Option<usize>,
    pub steps: Vec<Step>,
    pub exits: Vec<Exit>,
}

#[derive(Debug, Clone)]
pub struct Step {
    pub kind: StepKind,
    /// Where the function itself makes it, or calls the helper that does.
    pub place: Location,
    pub path: Path,
    /// In a task of its own, or in `Drop`.
    pub is_apart: bool,
    /// The innermost loop of the function's body around it.
    pub in_loop: Option<u32>,
    /// The steps whose replies are in what it writes.
    pub made_of: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// An operation of the sequence.
    Key(usize),
    /// A statement, by its position in [`super::Inventory::statements`].
    Statement(usize),
    Begin,
    Commit,
    Rollback,
}

/// `?`, `return`, `bail!` and their like in the function's own body.
#[derive(Debug, Clone)]
pub struct Exit {
    pub location: Location,
    /// How many steps came before it.
    pub position: usize,
    pub path: Path,
    /// The steps whose replies decide it, those left out that are known to have gone well.
    pub decided_by: Vec<usize>,
    /// It leaves this loop, or its round, and not the function.
    pub in_loop: Option<u32>,
}

/// The conditions under which a step runs, outermost first, by number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Path(pub Vec<u32>);

impl Path {
    /// Whether everything that is known here is known there: whoever comes there has come by here.
    pub fn leads_to(&self, other: &Path) -> bool {
        other.0.starts_with(&self.0)
    }
}
