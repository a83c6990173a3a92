//! Why a lease ended before its holder gave it back.

use std::fmt;

use thiserror::Error;

use crate::key::LeaseKey;
use crate::token::FencingToken;

/// What ended a lease, or told its holder to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LossReason {
    /// The store says that the lease is not this holder's: it ended there, or somebody else has it.
    NotMine,
    /// So many renewals in a row went without an answer.
    RenewalsFailed {
        /// How many.
        failures: u32,
    },
    /// The time since the last good renewal ran out: the process was paused, or its runtime was blocked.
    Deadline,
    /// The process is shutting down; the lease itself is still held until the work has ended.
    ShuttingDown,
    /// The lease was given back.
    Released,
}

impl LossReason {
    /// As a label of `measures`.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::NotMine => "not_mine",
            Self::RenewalsFailed { .. } => "renewals_failed",
            Self::Deadline => "deadline",
            Self::ShuttingDown => "shutting_down",
            Self::Released => "released",
        }
    }
}

impl fmt::Display for LossReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotMine => f.write_str("the store no longer knows it as this holder's"),
            Self::RenewalsFailed { failures } => {
                write!(f, "{failures} renewals in a row had no answer from the store")
            }
            Self::Deadline => f.write_str("its time ran out before a renewal was confirmed"),
            Self::ShuttingDown => f.write_str("the process is shutting down"),
            Self::Released => f.write_str("it was given back"),
        }
    }
}

/// A lease that its holder must not rely on any more. Writes that were not committed must be rolled back.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("lease `{key}` with token {token} has ended: {reason}; stop the work, and acquire again to go on")]
pub struct LeaseLost {
    /// The lease's name.
    pub key: LeaseKey,
    /// The token of the grant that ended.
    pub token: FencingToken,
    /// What ended it.
    pub reason: LossReason,
}
