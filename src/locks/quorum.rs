//! Locks that are taken on several independent nodes, and what the code asks for before it believes in one.

use crate::facts::Location;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quorum {
    /// The comparison of the count.
    pub location: Location,
    /// The acquire on one node.
    pub acquired_at: Location,
    pub lock: String,
    /// The smallest number of nodes for which fewer than a majority are enough.
    pub too_few_of: Option<i128>,
    /// Nothing frees the nodes that were won when the others were not.
    pub leaves_minority: bool,
    /// The time that the acquire took is looked at.
    pub asks_elapsed: bool,
    /// Where that is taken off the TTL.
    pub validity: Option<Location>,
    /// Something is taken off for the drift of the clocks.
    pub asks_drift: bool,
}
