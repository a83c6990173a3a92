//! What can go wrong with a lock: the ends of runs that the model looks for.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Harm {
    /// A worker frees the lock of another one.
    ForeignRelease,
    /// A worker gives the lock of another one more time, or less.
    ForeignRenewal,
    /// The storage takes the write of a worker whose successor has written already.
    StaleWrite,
    /// Two workers hold the lock, and neither was paused for longer than it lasts.
    TwoHolders,
    /// A worker that has been told that it does not hold the lock works all the same.
    WorksUnheld,
    /// Nobody is left to free the lock, and nothing ends it.
    HeldForEver,
    /// The work is over, and the lock is held until its TTL ends.
    HeldAfterWork,
    /// A renewal keeps the lock, or brings it back, when the work is over.
    KeptAfterWork,
    /// A refusal by the store looks like success.
    LossUnseen,
    /// The storage refuses the worker that holds the lock.
    HolderRefused,
    /// A write that was sent twice is applied twice.
    AppliedTwice,
}

impl Harm {
    pub const ALL: [Self; 11] = [
        Self::ForeignRelease,
        Self::ForeignRenewal,
        Self::StaleWrite,
        Self::TwoHolders,
        Self::WorksUnheld,
        Self::HeldForEver,
        Self::HeldAfterWork,
        Self::KeptAfterWork,
        Self::LossUnseen,
        Self::HolderRefused,
        Self::AppliedTwice,
    ];

    /// The harm as the last line of a run.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::ForeignRelease => "the lock of another worker is gone",
            Self::ForeignRenewal => "the lifetime of another worker's lock is changed",
            Self::StaleWrite => "a stale write overwrites newer data",
            Self::TwoHolders => "two workers hold the lock at the same time",
            Self::WorksUnheld => "the work goes on without the lock",
            Self::HeldForEver => "nobody is left to free the lock, and nothing ends it",
            Self::HeldAfterWork => "the work is over, and the lock stays until its TTL ends",
            Self::KeptAfterWork => "the work is over, and its lock is renewed",
            Self::LossUnseen => "a refusal looks like success",
            Self::HolderRefused => "the holder of the lock is refused",
            Self::AppliedTwice => "one change is applied twice",
        }
    }
}
