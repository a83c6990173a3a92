//! Where readings of this process's clocks end up in a lease.

use crate::facts::Location;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClockFlow {
    /// The comparison, construction or command.
    pub location: Location,
    /// Where the clock was read.
    pub reading: Location,
    pub kind: ClockFlowKind,
    /// The lock's name.
    pub lock: Option<String>,
    /// The function it is written in.
    pub function: String,
    pub is_test: bool,
}

/// A local deadline of a lease that begins behind the reply of the request which it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateDeadline {
    /// Where the clock is read.
    pub location: Location,
    /// The acquire or renewal, or the call that leads to it.
    pub request: Location,
    pub lock: String,
    pub is_renewal: bool,
    pub is_test: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClockFlowKind {
    /// Compared with what was stored under the lock's key.
    ComparedWithStored,
    /// Compared with a deadline field of a type that holds a lease.
    ComparedWithDeadline { field: String },
    /// Put into a deadline field of a type that holds a lease.
    StoredAsDeadline { field: String },
    /// Given to the store as the lock's lifetime, worked out from a reading.
    GivenAsTtl,
    /// Asked whether it is time to renew.
    DecidesRenewal,
    /// Given to the store as the moment when the lock ends.
    GivenAsEnd,
}
