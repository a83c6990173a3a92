//! What a fence row says of its newest claim, and whether that is one's own.

use super::{FenceError, Resource, StaleToken};
use crate::measures;
use crate::tenure::Tenure;

/// The newest claim of a resource: its token, and whose it was.
///
/// The token alone is not enough. Where a store of leases has lost its count, it can grant a number again that an
/// earlier holder has and has not claimed with; owner values are drawn afresh for each lease and never repeat.
pub(crate) struct Mark {
    pub(crate) token: i64,
    /// The owner value's bytes. Other ones, or none, in a row that was claimed before there was this column.
    pub(crate) holder: Option<Vec<u8>>,
}

impl Mark {
    pub(crate) fn is_of(&self, tenure: &Tenure) -> bool {
        self.token == tenure.token().as_i64()
            && self.holder.as_deref() == Some(tenure.owner().as_bytes().as_slice())
    }
}

/// What a fence row says to a holder who has just claimed it.
pub(crate) fn claimed(mark: Option<&Mark>, tenure: &Tenure, resource: &Resource) -> Result<(), FenceError> {
    match mark {
        Some(mark) if mark.is_of(tenure) => Ok(()),
        _ => Err(refused(mark, tenure, resource)),
    }
}

/// Why a holder was not let through by this row.
pub(crate) fn refused<E>(mark: Option<&Mark>, tenure: &Tenure, resource: &Resource) -> FenceError<E> {
    let (place, presented) = (resource.to_string(), tenure.token());
    match mark {
        Some(mark) if mark.token >= presented.as_i64() => {
            measures::stale_refusal();
            FenceError::Stale(StaleToken { place, presented, stored: mark.token })
        }
        _ => FenceError::Forgotten { place, presented },
    }
}
