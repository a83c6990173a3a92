//! The thread that owns an SQLite connection: requests queue here, so that no blocking call ever sits on the
//! runtime's threads, and a caller who goes away never leaves a transaction half done.

use std::sync::mpsc;
use std::{io, thread};

use rusqlite::Connection;
use thiserror::Error;
use tokio::sync::oneshot;

type Request = Box<dyn FnOnce(&mut Connection) + Send>;

/// The queue in front of the thread. The thread ends with the last clone.
#[derive(Debug, Clone)]
pub(crate) struct Desk(mpsc::Sender<Request>);

/// The thread is gone: a request has panicked.
#[derive(Debug, Error)]
#[error("the thread that owns the SQLite connection has ended; open the file again")]
pub(crate) struct DeskClosed;

impl Desk {
    pub(crate) fn start(mut connection: Connection) -> io::Result<Self> {
        let (sender, requests) = mpsc::channel::<Request>();
        thread::Builder::new().name("leasehold-sqlite".to_owned()).spawn(move || {
            for request in requests {
                request(&mut connection);
            }
        })?;
        Ok(Self(sender))
    }

    /// Queues `request` and waits for its answer. When the waiting is dropped, the request still runs, whole;
    /// it can learn so from `abandoned`.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        request: impl FnOnce(&mut Connection, &dyn Fn() -> bool) -> T + Send + 'static,
    ) -> Result<T, DeskClosed> {
        let (reply, answer) = oneshot::channel::<T>();
        let request: Request = Box::new(move |connection| {
            let answer = request(connection, &|| reply.is_closed());
            // Nobody listens any more when the caller has gone.
            let _unheard = reply.send(answer);
        });
        self.0.send(request).map_err(|_| DeskClosed)?;
        answer.await.map_err(|_| DeskClosed)
    }
}
