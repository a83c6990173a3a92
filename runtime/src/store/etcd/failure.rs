//! What an error of etcd means for a lease.

use hyper::StatusCode;

use super::NAME;
use super::wire::{Complaint, read_message};
use crate::store::{Cause, StoreError};

/// Codes of gRPC, which the gateway passes on.
const INVALID_ARGUMENT: u32 = 3;
const NOT_FOUND: u32 = 5;
const PERMISSION_DENIED: u32 = 7;
const OUT_OF_RANGE: u32 = 11;
const UNIMPLEMENTED: u32 = 12;
const UNAUTHENTICATED: u32 = 16;

/// Why etcd did not do what it was asked.
#[derive(Debug)]
pub(super) enum Failure {
    /// There is no such lease.
    NoLease,
    /// The user must prove again who it is.
    WhoAreYou(String),
    /// The server is of no use at the moment, another one may be.
    Unready(String),
    Other(StoreError),
}

impl Failure {
    pub(super) fn from_answer(action: &'static str, status: StatusCode, body: &[u8]) -> Self {
        match read_message::<Complaint>(body) {
            Ok(complaint) => Self::from_complaint(action, complaint),
            // Not the gateway's own words.
            Err(_) if status == StatusCode::NOT_FOUND => Self::Other(refused(
                action,
                "there is no such path".into(),
                "the address must be that of etcd 3.4 or later, with --enable-grpc-gateway",
            )),
            Err(_) if status.is_server_error() => Self::Unready(format!("HTTP {status}")),
            Err(_) => Self::Other(unintelligible(action, format!("HTTP {status}"))),
        }
    }

    pub(super) fn from_complaint(action: &'static str, complaint: Complaint) -> Self {
        let Complaint { code, message } = complaint;
        let forgotten = code == UNAUTHENTICATED || message.contains("auth store is old");
        match code {
            NOT_FOUND => Self::NoLease,
            _ if forgotten => Self::WhoAreYou(message),
            INVALID_ARGUMENT | PERMISSION_DENIED | OUT_OF_RANGE | UNIMPLEMENTED => {
                let advice = advice(code);
                Self::Other(refused(action, message.into(), advice))
            }
            _ => Self::Unready(message),
        }
    }

    pub(super) fn into_error(self, action: &'static str) -> StoreError {
        match self {
            Self::Other(error) => error,
            Self::WhoAreYou(said) => refused(action, said.into(), advice(INVALID_ARGUMENT)),
            Self::Unready(said) => StoreError::Unready { store: NAME, action, cause: said.into() },
            Self::NoLease => StoreError::Unready {
                store: NAME,
                action,
                cause: "the lease ended before it was used".into(),
            },
        }
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

fn advice(code: u32) -> &'static str {
    match code {
        INVALID_ARGUMENT => "check user and password in the address",
        PERMISSION_DENIED => "the user's role needs to read and write keys that begin with the namespace",
        OUT_OF_RANGE => "ask for a shorter TTL",
        _ => "the server must be etcd 3.4 or later",
    }
}
