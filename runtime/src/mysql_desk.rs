//! The task that owns a connection to MySQL: requests queue here, so that no statement is ever dropped half way,
//! which would leave its answer to the next one. Knows no statement, and does not retry.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, DriverError, Error, Opts, OptsBuilder, Params, Row};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::debug;

use crate::clock::{BootClock, Clock, Moment};

/// Servers close connections that nobody uses. One that has rested for so long is asked first whether it is
/// still there, since a statement whose answer does not come may have been executed.
const RESTED: Duration = Duration::from_secs(5);

/// Shows in time that the server's host has gone while the task waits for it.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// The queue in front of the connection. Requests are answered one after the other. With the last clone the
/// connection is closed, also in the middle of a statement.
#[derive(Debug, Clone)]
pub(crate) struct Desk {
    requests: mpsc::UnboundedSender<Request>,
    /// When the last answer came, in the boot clock's nanoseconds.
    answered: Arc<AtomicU64>,
    _open: Arc<DropGuard>,
}

#[derive(Debug)]
struct Request {
    statement: Cow<'static, str>,
    values: Params,
    reply: oneshot::Sender<Result<Answer, Error>>,
}

/// What a statement gave.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) rows: Vec<Row>,
    /// Rows that an `UPDATE` found, also those that already were as it would have made them.
    pub(crate) found: u64,
    /// What `LAST_INSERT_ID(…)` was set to by the statement.
    pub(crate) last_id: Option<u64>,
}

impl Desk {
    /// Connects, and runs the `setup` statements.
    pub(crate) async fn open(address: &Opts, setup: &[&str]) -> Result<Self, Error> {
        // The client takes the last one first.
        let statements = setup.iter().rev().map(|&statement| statement.to_owned());
        let options = OptsBuilder::from_opts(address.clone())
            .client_found_rows(true)
            .tcp_keepalive(Some(KEEPALIVE))
            .prefer_socket(false)
            .setup(statements.chain(address.setup().iter().cloned()).collect());
        let connection = Conn::new(options).await?;
        let (requests, queue) = mpsc::unbounded_channel();
        let closed = CancellationToken::new();
        tokio::spawn(serve(connection, queue, closed.clone()));
        let answered = Arc::new(AtomicU64::new(BootClock.now().as_nanoseconds()));
        Ok(Self { requests, answered, _open: Arc::new(closed.drop_guard()) })
    }

    /// Queues a statement and waits for its answer; without values it is not prepared. When the waiting is
    /// dropped, a statement that has been sent still runs to its end, and one that has not is left out.
    pub(crate) async fn ask(
        &self,
        statement: impl Into<Cow<'static, str>>,
        values: impl Into<Params>,
    ) -> Result<Answer, Error> {
        let (reply, answer) = oneshot::channel();
        let request = Request { statement: statement.into(), values: values.into(), reply };
        self.requests.send(request).map_err(|_| DriverError::ConnectionClosed)?;
        let answer = answer.await.map_err(|_| DriverError::ConnectionClosed)?;
        self.answered.store(BootClock.now().as_nanoseconds(), Ordering::Relaxed);
        answer
    }

    /// Whether the connection can be used, as far as can be told. One that has rested is asked.
    pub(crate) async fn is_open(&self) -> bool {
        self.has_answered_within(RESTED) || !self.requests.is_closed() && self.ask("DO 0", ()).await.is_ok()
    }

    /// Whether it was used so lately that the server will not have closed it.
    pub(crate) fn has_answered_within(&self, span: Duration) -> bool {
        let answered = Moment::from_nanoseconds(self.answered.load(Ordering::Relaxed));
        !self.requests.is_closed() && BootClock.now().since(answered) < span
    }
}

async fn serve(mut connection: Conn, mut queue: mpsc::UnboundedReceiver<Request>, closed: CancellationToken) {
    while let Some(Request { statement, values, reply }) = queue.recv().await {
        if reply.is_closed() {
            continue;
        }
        let answer = tokio::select! {
            answer = answer(&mut connection, statement, values) => answer,
            () = closed.cancelled() => break,
        };
        let ended = answer.as_ref().err().is_some_and(ends_connection);
        // Nobody listens any more when the caller has gone.
        let _unheard = reply.send(answer);
        if ended {
            debug!("a connection to MySQL ended");
            break;
        }
    }
}

async fn answer(
    connection: &mut Conn,
    statement: Cow<'static, str>,
    values: Params,
) -> Result<Answer, Error> {
    if values == Params::Empty {
        let mut result = connection.query_iter(statement).await?;
        let rows = result.collect().await?;
        return Ok(Answer { rows, found: result.affected_rows(), last_id: result.last_insert_id() });
    }
    let mut result = connection.exec_iter(statement, values).await?;
    let rows = result.collect().await?;
    Ok(Answer { rows, found: result.affected_rows(), last_id: result.last_insert_id() })
}

/// Whether the connection cannot be used any more. An error of the server or about the values that were handed
/// in leaves it as it was.
fn ends_connection(error: &Error) -> bool {
    !matches!(
        error,
        Error::Server(_)
            | Error::Driver(
                DriverError::Params(_)
                    | DriverError::MixedParams
                    | DriverError::StmtParamsMismatch { .. }
                    | DriverError::StmtParamsNumberExceedsLimit { .. }
                    | DriverError::FromValue { .. }
                    | DriverError::FromRow { .. }
            )
    )
}
