//! The thread that owns an SQLite connection: requests queue here, so that no blocking call ever sits on the
//! runtime's threads, and a caller who goes away never leaves a statement half done.

use std::sync::mpsc;
use std::thread;

use rusqlite::{Connection, ErrorCode};
use tokio::sync::oneshot;

use super::NAME;
use crate::store::StoreError;

type Request = Box<dyn FnOnce(&mut Connection) + Send>;

/// The queue in front of the thread. The thread ends with the last clone.
#[derive(Debug, Clone)]
pub(super) struct Desk(mpsc::Sender<Request>);

impl Desk {
    pub(super) fn start(mut connection: Connection) -> Result<Self, StoreError> {
        let (sender, requests) = mpsc::channel::<Request>();
        thread::Builder::new()
            .name("leasehold-sqlite".to_owned())
            .spawn(move || {
                for request in requests {
                    request(&mut connection);
                }
            })
            .map_err(|error| StoreError::Unready {
                store: NAME,
                action: "starting its thread",
                cause: error.into(),
            })?;
        Ok(Self(sender))
    }

    /// Queues `request` and waits for its answer. When the waiting is dropped, the request still runs, whole.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        action: &'static str,
        request: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let gone = || StoreError::Unreachable {
            store: NAME,
            action,
            cause: "the thread that owns the connection has ended".into(),
        };
        let (reply, answer) = oneshot::channel();
        let request: Request = Box::new(move |connection| {
            // Nobody listens any more when the caller has gone.
            let _unheard = reply.send(request(connection));
        });
        self.0.send(request).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?.map_err(|error| failure(action, error))
    }
}

/// What an error of SQLite means for a lease.
pub(super) fn failure(action: &'static str, error: rusqlite::Error) -> StoreError {
    let code = error.sqlite_error().map(|detail| (detail.code, detail.extended_code));
    match code {
        Some((_, rusqlite::ffi::SQLITE_CONSTRAINT_DATATYPE)) => StoreError::TokensExhausted { store: NAME },
        Some((ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::DiskFull, _)) => {
            StoreError::Unready { store: NAME, action, cause: error.into() }
        }
        Some((ErrorCode::SystemIoFailure, _)) => {
            StoreError::Unreachable { store: NAME, action, cause: error.into() }
        }
        _ => StoreError::Refused {
            store: NAME,
            action,
            advice: advice(code.map(|(code, _)| code)),
            cause: error.into(),
        },
    }
}

fn advice(code: Option<ErrorCode>) -> &'static str {
    match code {
        Some(ErrorCode::CannotOpen) => "check the path and that its folder exists and may be written to",
        Some(ErrorCode::ReadOnly) => "the file or its folder may not be written to",
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            "the file is not an SQLite database; give another path"
        }
        _ => "the table `leasehold_lease` must be as `leasehold::store::sqlite::SCHEMA` makes it",
    }
}
