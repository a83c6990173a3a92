//! A held lease, and giving it back.

use std::fmt;
use std::ops::Deref;

use tokio::sync::{mpsc, oneshot};

use crate::loss::{LeaseLost, LossReason};
use crate::renewal::Command;
use crate::store::StoreError;
use crate::tenure::Tenure;

/// A lease that this process holds. Renewed in the background until it is given back or lost.
///
/// What the work may ask is on [`Tenure`], to which this dereferences: [`token`](Tenure::token),
/// [`check`](Tenure::check), [`cancelled`](Tenure::cancelled), [`run`](Tenure::run).
///
/// Give it back with [`release`](Lease::release). `Drop` is the fallback: it cancels the work and asks the
/// background task to release, without blocking, panicking or waiting; when the runtime ends before that task
/// has run, the store frees the lease after its TTL.
#[must_use = "a lease that is dropped is given back"]
pub struct Lease {
    tenure: Tenure,
    /// `None` once it was given back.
    keeper: Option<mpsc::UnboundedSender<Command>>,
}

impl Lease {
    pub(crate) fn new(tenure: Tenure, keeper: mpsc::UnboundedSender<Command>) -> Self {
        Self { tenure, keeper: Some(keeper) }
    }

    /// A handle that can go with the work, and outlive this lease without keeping it.
    #[must_use]
    pub fn tenure(&self) -> Tenure {
        self.tenure.clone()
    }

    /// Gives the lease back: cancels what still runs under it, waits until fenced transactions under its token
    /// have been committed or rolled back, stops the renewals and waits for the last one, and then releases
    /// the lease in the store, which compares the owner value in the same step.
    ///
    /// Cancel-safe: when this is dropped, the release goes on in the background.
    pub async fn release(mut self) -> ReleaseOutcome {
        let (reply, answer) = oneshot::channel();
        self.give_back(Some(reply));
        answer.await.unwrap_or(ReleaseOutcome::Abandoned)
    }

    fn give_back(&mut self, reply: Option<oneshot::Sender<ReleaseOutcome>>) {
        if let Some(keeper) = self.keeper.take() {
            self.tenure.lose(LossReason::Released);
            // The keeper is gone only with its runtime; then the TTL frees the lease.
            let _gone = keeper.send(Command::End { owner: self.tenure.claim().owner, reply });
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.give_back(None);
    }
}

impl Deref for Lease {
    type Target = Tenure;

    fn deref(&self) -> &Tenure {
        &self.tenure
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.tenure, f)
    }
}

/// What became of a release. Not an error: the holder is done with the lease in each case.
#[derive(Debug)]
#[must_use = "a lease that was already lost may mean that the work was done in vain"]
#[non_exhaustive]
pub enum ReleaseOutcome {
    /// It was still held, and has been freed.
    Released,
    /// It had ended before; nothing in the store was touched.
    AlreadyLost(LeaseLost),
    /// The store did not say whether it was freed; if it was not, its TTL will.
    Unconfirmed(StoreError),
    /// The runtime that renews leases has ended; the TTL will free it.
    Abandoned,
}

impl ReleaseOutcome {
    /// As a label of `measures`.
    pub(crate) fn label(&self) -> &'static str {
        match self {
            Self::Released => "released",
            Self::AlreadyLost(_) => "already_lost",
            Self::Unconfirmed(_) => "unconfirmed",
            Self::Abandoned => "abandoned",
        }
    }

    /// Whether the lease was held up to its release.
    #[must_use]
    pub fn is_released(&self) -> bool {
        matches!(self, Self::Released)
    }
}
