//! What an error of Consul means for a lease.

use hyper::StatusCode;

use super::NAME;
use super::wire::Outcome;
use crate::store::{Cause, StoreError};

/// Why Consul did not do what it was asked.
#[derive(Debug)]
pub(super) enum Failure {
    /// A step of the transaction did not apply, and nothing was done.
    Conflict(String),
    /// There is no such session.
    NoSession,
    /// The server is of no use at the moment, another one may be.
    Unready(String),
    Other(StoreError),
}

impl Failure {
    pub(super) fn from_answer(action: &'static str, status: StatusCode, body: &[u8]) -> Self {
        let said = String::from_utf8_lossy(body).trim().chars().take(300).collect::<String>();
        let outcome = serde_json::from_slice::<Outcome>(body).ok();
        let conflict = outcome.and_then(|outcome| outcome.errors?.into_iter().next());
        if let Some(conflict) = conflict {
            return match advice(&conflict.what) {
                Some(advice) => Self::Other(refused(action, conflict.what.into(), advice)),
                None => Self::Conflict(conflict.what),
            };
        }
        if let Some(advice) = advice(&said) {
            return Self::Other(refused(action, said.into(), advice));
        }
        match status {
            StatusCode::NOT_FOUND if said.starts_with("Session id") => Self::NoSession,
            StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => {
                Self::Other(refused(action, said.into(), ACCESS))
            }
            StatusCode::TOO_MANY_REQUESTS => Self::Unready(said),
            _ if status.is_server_error() => Self::Unready(said),
            _ if status.is_client_error() => {
                let cause = format!("HTTP {status}: {said}").into();
                Self::Other(refused(action, cause, "the address must be that of a Consul agent"))
            }
            _ => Self::Other(unintelligible(action, format!("HTTP {status}"))),
        }
    }

    pub(super) fn into_error(self, action: &'static str) -> StoreError {
        let unready = |cause: Cause| StoreError::Unready { store: NAME, action, cause };
        match self {
            Self::Other(error) => error,
            Self::Unready(said) | Self::Conflict(said) => unready(said.into()),
            Self::NoSession => unready("the session ended before it was used".into()),
        }
    }
}

const ACCESS: &str = "the token needs `session:write` on the agent's node, and to read and write keys that begin with the namespace";

/// What to do about a refusal that Consul tells in words only; `None` for what may pass by itself.
fn advice(said: &str) -> Option<&'static str> {
    if said.contains("Permission denied") || said.contains("ACL not found") {
        Some(ACCESS)
    } else if said.contains("Session TTL") {
        Some("ask for a TTL from the agents' `session_ttl_min` to a day")
    } else {
        None
    }
}

pub(super) fn unreachable(action: &'static str, cause: Cause) -> StoreError {
    StoreError::Unreachable { store: NAME, action, cause }
}

pub(super) fn unintelligible(action: &'static str, answer: impl ToString) -> StoreError {
    StoreError::Unintelligible { store: NAME, action, answer: answer.to_string() }
}

pub(super) fn refused(action: &'static str, cause: Cause, advice: &'static str) -> StoreError {
    StoreError::Refused { store: NAME, action, cause, advice }
}
