//! Why a store gave no answer: what was asked, of which store, what is wrong and what to do about it.

use std::time::Duration;

use thiserror::Error;

/// The error of a client library, kept for its text and as `source()`.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// A store gave no answer that could be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No answer came in time. Whether the request was executed is not known.
    #[error("{store} did not answer {action} within {after:?}; check its load and the network to it")]
    TimedOut {
        /// The store's name.
        store: &'static str,
        /// What was asked.
        action: &'static str,
        /// How long the request had.
        after: Duration,
    },
    /// The store cannot be reached, or the connection broke. Whether the request was executed is not known.
    #[error(
        "{store} cannot be reached for {action}: {cause}; check that it runs and that the address is right"
    )]
    Unreachable {
        /// The store's name.
        store: &'static str,
        /// What was asked.
        action: &'static str,
        /// What the client library said.
        #[source]
        cause: Cause,
    },
    /// The store cannot do it at the moment: it loads its data, fails over, is full or busy.
    #[error("{store} cannot do {action} now: {cause}; it may work when it is tried again")]
    Unready {
        /// The store's name.
        store: &'static str,
        /// What was asked.
        action: &'static str,
        /// What the store said.
        #[source]
        cause: Cause,
    },
    /// The store refuses the request, and will refuse it again: wrong password, no permission, a table that is
    /// missing or has other columns.
    #[error("{store} refuses {action}: {cause}; {advice}")]
    Refused {
        /// The store's name.
        store: &'static str,
        /// What was asked.
        action: &'static str,
        /// What the store said.
        #[source]
        cause: Cause,
        /// What to do about it.
        advice: &'static str,
    },
    /// The store's counter has reached its end, so there is no higher token to give.
    #[error(
        "{store} has given the last fencing token there is, {}; the counter was set by hand, set it back to the \
         highest token that the storage has seen",
        i64::MAX
    )]
    TokensExhausted {
        /// The store's name.
        store: &'static str,
    },
    /// The store answered something that no store of this kind answers.
    #[error("{store} answered {action} with {answer}; is something else than leasehold writing to its keys?")]
    Unintelligible {
        /// The store's name.
        store: &'static str,
        /// What was asked.
        action: &'static str,
        /// What came back, shortened.
        answer: String,
    },
}

impl StoreError {
    /// Whether the same request may work when it is sent again.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::TimedOut { .. } | Self::Unreachable { .. } | Self::Unready { .. })
    }
}
