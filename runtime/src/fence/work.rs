//! A transaction that ends whatever becomes of its caller. A task of its own opens the session, lends it to the
//! caller for the work, and gets it back with a verdict; a caller who goes away hands it back for a rollback.
//! The task counts as work under the lease, so the lease is not given back before it has ended.

use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;
use tracing::warn;

use super::{Ending, FenceError, Receipt};
use crate::store::Cause;
use crate::tenure::Tenure;

/// How long a rollback may take before the connection is closed, which ends the transaction too.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long one step around the work may take. A connection that is half dead answers nothing, and breaks only
/// after many minutes; without a limit the lease would be renewed, and kept from others, all that time.
fn limit(tenure: &Tenure) -> Duration {
    PATIENCE.max(tenure.claim().ttl)
}

/// Raises a fence. Cancel-safe if `raise` is: it is dropped half way when the lease ends, or when the database is
/// silent for too long.
pub(crate) async fn claim(
    tenure: &Tenure,
    raise: impl Future<Output = Result<(), FenceError>>,
) -> Result<(), FenceError> {
    let limit = limit(tenure);
    timeout(limit, tenure.run(raise)).await.map_err(|_| unanswered("a claim", limit))??
}

/// One connection with one transaction. Dropping a session must close its connection or otherwise see to it that
/// nobody uses it again.
pub(crate) trait Session: Sized + Send + 'static {
    /// Begins, and changes the fence row, which refuses a token that is not the claimed one.
    fn begin(&mut self) -> impl Future<Output = Result<(), FenceError>> + Send;
    /// Commits. An error says that the transaction did not happen and is to be rolled back, unless it is
    /// [`CommitUnknown`](FenceError::CommitUnknown).
    fn commit(&mut self) -> impl Future<Output = Result<(), FenceError>> + Send;
    /// What there is to find out with, when the commit has no answer.
    fn unknown(&self, cause: Cause) -> FenceError;
    /// Rolls back.
    fn rollback(&mut self) -> impl Future<Output = Result<(), Cause>> + Send;
    /// The transaction has ended in a known way: the connection may be used for another one.
    fn give_back(self);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Commit,
    Rollback,
}

/// The session while the caller works with it. Goes back to the task in any case.
struct Borrowed<S> {
    session: Option<S>,
    back: Option<oneshot::Sender<(S, Verdict)>>,
}

impl<S> Borrowed<S> {
    fn hand_back(&mut self, verdict: Verdict) {
        if let (Some(session), Some(back)) = (self.session.take(), self.back.take()) {
            // Without the task, the runtime has ended; the session is dropped, which closes the connection.
            let _gone = back.send((session, verdict));
        }
    }
}

impl<S> Drop for Borrowed<S> {
    fn drop(&mut self) {
        self.hand_back(Verdict::Rollback);
    }
}

/// Runs `work` in a transaction of the session that `open` gives. Cancel-safe: when this is dropped, the
/// transaction is rolled back in the background, or committed if the commit had begun.
pub(crate) async fn transaction<S, T, E, O>(
    tenure: &Tenure,
    open: O,
    work: impl AsyncFnOnce(&mut S) -> Result<T, E>,
) -> Result<T, FenceError<E>>
where
    S: Session,
    O: Future<Output = Result<S, FenceError>> + Send + 'static,
{
    tenure.check()?;
    let (lend, lent) = oneshot::channel();
    let (report, reported) = oneshot::channel();
    let watched = tenure.clone();
    tenure.works().spawn(async move {
        // Nobody listens any more when the caller has gone; the transaction has ended all the same.
        let _unheard = report.send(drive(watched, open, lend).await);
    });
    let Ok(mut borrowed) = lent.await else {
        return Err(ended(reported.await).unwrap_or_else(|| gone("beginning").widen()));
    };
    let done = match &mut borrowed.session {
        Some(session) => tenure.run(work(session)).await,
        None => return Err(gone("beginning").widen()),
    };
    // The last look before the commit. It saves a useless commit; what makes it safe is the fence row.
    let still_held = tenure.check();
    let (value, error) = match (done, still_held) {
        (Ok(Ok(value)), Ok(_)) => (Some(value), None),
        (Ok(Err(error)), _) => (None, Some(FenceError::Work(error))),
        (Err(lost), _) | (Ok(Ok(_)), Err(lost)) => (None, Some(FenceError::Lost(lost))),
    };
    borrowed.hand_back(if value.is_some() { Verdict::Commit } else { Verdict::Rollback });
    let failed = ended(reported.await);
    match (error, failed, value) {
        (Some(error), _, _) | (None, Some(error), _) => Err(error),
        (None, None, Some(value)) => Ok(value),
        (None, None, None) => Err(gone("ending").widen()),
    }
}

/// The task's part, from the first statement to the last.
async fn drive<S: Session>(
    tenure: Tenure,
    open: impl Future<Output = Result<S, FenceError>>,
    lend: oneshot::Sender<Borrowed<S>>,
) -> Result<(), FenceError> {
    // Nothing has begun while it opens, so that may be dropped half way.
    let limit = limit(&tenure);
    let mut session = timeout(limit, tenure.run(open))
        .await
        .map_err(|_| unanswered("beginning a transaction", limit))???;
    // Once begun, it is also ended, and its end awaited: a dropped connection ends only when the server sees it.
    let begun = timeout(limit, session.begin())
        .await
        .unwrap_or_else(|_| Err(unanswered("beginning a transaction", limit)));
    if let Err(error) = begun {
        roll_back(session).await;
        return Err(error);
    }
    let (back, verdict) = oneshot::channel();
    // When the caller has gone it comes back unsent, and must be dropped here and now: that hands it back.
    drop(lend.send(Borrowed { session: Some(session), back: Some(back) }));
    let Ok((mut session, verdict)) = verdict.await else { return Err(gone("ending")) };
    if verdict == Verdict::Commit {
        // Not cut short by a cancellation. Only silence ends the waiting, and then the end is not known.
        let answer = timeout(limit, session.commit()).await;
        let committed =
            answer.unwrap_or_else(|_| Err(session.unknown(format!("no answer within {limit:?}").into())));
        match &committed {
            Ok(()) => session.give_back(),
            // Nobody answers there any more.
            Err(FenceError::CommitUnknown { .. }) => {}
            // A transaction that could not be committed may still be open.
            Err(_) => roll_back(session).await,
        }
        return committed;
    }
    roll_back(session).await;
    Ok(())
}

/// What `find_out` is called in errors.
pub(crate) const FINDING_OUT: &str = "finding out about a commit";

/// The ending of a transaction by what its fence row says, if there is one: its count and its last ids. `ask` must
/// wait until the transaction has ended.
pub(crate) async fn find_out(
    receipt: &Receipt,
    ask: impl Future<Output = Result<Option<(i64, Vec<u8>)>, FenceError>>,
) -> Result<Ending, FenceError> {
    let limit = receipt.patience();
    let row = timeout(limit, ask).await.map_err(|_| unanswered(FINDING_OUT, limit))??;
    Ok(row.map_or(Ending::NoLongerKnown, |(writes, recent)| receipt.ending(writes, &recent)))
}

async fn roll_back<S: Session>(mut session: S) {
    match timeout(PATIENCE, session.rollback()).await {
        Ok(Ok(())) => session.give_back(),
        Ok(Err(error)) => warn!(%error, "a rollback failed; its connection is closed instead"),
        Err(_) => warn!("a rollback was not confirmed in {PATIENCE:?}; its connection is closed instead"),
    }
}

fn unanswered(action: &'static str, limit: Duration) -> FenceError<Infallible> {
    let cause = format!("no answer within {limit:?}").into();
    FenceError::Database { action, cause, advice: "nothing was written; it may be repeated" }
}

fn ended<E>(report: Result<Result<(), FenceError>, oneshot::error::RecvError>) -> Option<FenceError<E>> {
    match report {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(error.widen()),
        Err(_) => Some(gone("ending").widen()),
    }
}

fn gone(action: &'static str) -> FenceError<Infallible> {
    let cause = "the task of the transaction has ended".into();
    FenceError::Database { action, cause, advice: "the runtime is shutting down" }
}
