//! The task that renews and releases all leases of one [`Leases`](crate::Leases). That acquire, renew and release
//! of one lease go through one task is what makes it impossible for a renewal to bring back a released lease.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::task_tracker::TaskTrackerToken;
use tracing::{debug, info, warn};

use super::term::{Fate, Parting, Step, Term};
use crate::clock::{Clock, Moment};
use crate::lease::ReleaseOutcome;
use crate::loss::{LeaseLost, LossReason};
use crate::measures;
use crate::settings::Settings;
use crate::store::{AnyStore, BoxFuture, Renewal, StoreError, Surrender};
use crate::tenure::Tenure;
use crate::token::OwnerValue;

/// Timers of the runtime stand still while the machine sleeps, the lease's clock does not: look at it so often.
const LONGEST_NAP: Duration = Duration::from_millis(500);

/// What leases ask of the keeper.
pub(crate) enum Command {
    /// A new grant, sent for at the moment `sent`, which the store keeps for `granted`.
    Hold { tenure: Tenure, sent: Moment, granted: Duration, open: TaskTrackerToken },
    /// The holder is done with it.
    End { owner: OwnerValue, reply: Option<oneshot::Sender<ReleaseOutcome>> },
}

/// What has become of something that was started.
enum Event {
    Renewed { owner: OwnerValue, sent: Moment, answer: Result<Renewal, StoreError> },
    Drained { owner: OwnerValue },
    Released { owner: OwnerValue, answer: Result<Surrender, StoreError> },
}

struct Held {
    tenure: Tenure,
    /// When its grant was asked for.
    since: Moment,
    term: Term,
    wake_at: Option<Moment>,
    reply: Option<oneshot::Sender<ReleaseOutcome>>,
    /// Counts as open until the entry is gone.
    _open: TaskTrackerToken,
}

pub(crate) struct Keeper {
    store: Arc<dyn AnyStore>,
    clock: Arc<dyn Clock>,
    settings: Settings,
    commands: mpsc::UnboundedReceiver<Command>,
    held: HashMap<OwnerValue, Held>,
    wakes: BTreeSet<(Moment, [u8; 16])>,
    under_way: FuturesUnordered<BoxFuture<'static, Event>>,
}

impl Keeper {
    pub(crate) fn new(
        store: Arc<dyn AnyStore>,
        clock: Arc<dyn Clock>,
        settings: Settings,
        commands: mpsc::UnboundedReceiver<Command>,
    ) -> Self {
        let (held, wakes, under_way) = (HashMap::new(), BTreeSet::new(), FuturesUnordered::new());
        Self { store, clock, settings, commands, held, wakes, under_way }
    }

    /// Runs until every sender of commands is gone and every lease has been given back.
    pub(crate) async fn run(mut self) {
        let mut listening = true;
        while listening || !self.held.is_empty() || !self.under_way.is_empty() {
            let nap = self.nap();
            tokio::select! {
                biased;
                // Deadlines first: no answer may make one late.
                () = sleep_until(nap) => self.wake(),
                Some(event) = self.under_way.next(), if !self.under_way.is_empty() => self.take(event),
                command = self.commands.recv(), if listening => match command {
                    Some(command) => self.obey(command),
                    None => listening = false,
                },
            }
        }
    }

    fn nap(&self) -> Option<Duration> {
        let (first, _) = self.wakes.first()?;
        Some(first.since(self.clock.now()).min(LONGEST_NAP))
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Hold { tenure, sent, granted, open } => {
                let owner = tenure.claim().owner;
                let term = Term::granted((&self.settings).into(), sent, granted);
                info!(key = %tenure.key(), token = %tenure.token(), ?owner, "lease acquired");
                measures::held(self.store_name(), 1);
                let entry = Held { tenure, since: sent, term, wake_at: None, reply: None, _open: open };
                self.held.insert(owner, entry);
                self.plan(owner);
            }
            Command::End { owner, reply } => {
                let Some(entry) = self.held.get_mut(&owner) else { return };
                entry.reply = reply;
                let works = entry.tenure.works().clone();
                works.close();
                // Transactions end by themselves within their own limits; a bound all the same, so that a
                // mistake there cannot keep a lease for ever.
                let most = self.settings.ttl;
                self.under_way.push(Box::pin(async move {
                    if tokio::time::timeout(most, works.wait()).await.is_err() {
                        warn!("work under a lease has not ended within its TTL; releasing all the same");
                    }
                    Event::Drained { owner }
                }));
            }
        }
    }

    /// Handles every lease whose time has come.
    fn wake(&mut self) {
        let now = self.clock.now();
        while let Some(&(at, owner)) = self.wakes.first() {
            if at > now {
                break;
            }
            let owner = OwnerValue::from_bytes(owner);
            let Some(entry) = self.held.get_mut(&owner) else {
                self.wakes.pop_first();
                continue;
            };
            let step = entry.term.woken(now);
            self.apply(owner, step);
        }
    }

    /// Does what was decided about a lease.
    fn apply(&mut self, owner: OwnerValue, step: Step) {
        match step {
            Step::Nothing => {}
            Step::Renew => self.send_renewal(owner),
            Step::Lose(reason) => self.lose(owner, reason),
            Step::Release => self.send_release(owner),
        }
        self.plan(owner);
    }

    fn send_renewal(&mut self, owner: OwnerValue) {
        // The store begins to count later than this.
        let sent = self.clock.now();
        let Some(entry) = self.held.get(&owner) else { return };
        let (store, claim) = (Arc::clone(&self.store), entry.tenure.claim().clone());
        let limit = self.settings.attempt_timeout;
        self.under_way.push(Box::pin(async move {
            let answer = within(limit, "a renewal", &*store, store.renew(&claim)).await;
            Event::Renewed { owner, sent, answer }
        }));
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Renewed { owner, sent, answer } => self.renewal_answered(owner, sent, answer),
            Event::Drained { owner } => {
                let Some(entry) = self.held.get_mut(&owner) else { return };
                let step = entry.term.drained();
                self.apply(owner, step);
            }
            Event::Released { owner, answer } => self.released(owner, answer),
        }
    }

    fn renewal_answered(&mut self, owner: OwnerValue, sent: Moment, answer: Result<Renewal, StoreError>) {
        let now = self.clock.now();
        let Some(entry) = self.held.get_mut(&owner) else { return };
        let (outcome, step) = match answer {
            Ok(Renewal::Renewed { ttl }) => ("renewed", entry.term.renewed(sent, ttl, now)),
            Ok(Renewal::NotMine) => ("not_mine", entry.term.not_mine()),
            Err(error) => {
                warn!(key = %entry.tenure.key(), token = %entry.tenure.token(), %error, "a renewal failed");
                ("failed", entry.term.unanswered())
            }
        };
        measures::count(measures::RENEWALS, self.store.capabilities().name(), "outcome", outcome);
        if step == Step::Nothing {
            entry.tenure.extend(entry.term.deadline());
        }
        self.apply(owner, step);
    }

    fn lose(&mut self, owner: OwnerValue, reason: LossReason) {
        let (now, store) = (self.clock.now(), self.store_name());
        let Some(entry) = self.held.get(&owner) else { return };
        measures::count(measures::LOSSES, store, "reason", reason.label());
        measures::time(measures::HOLD_TIME, store, now.since(entry.since));
        warn!(key = %entry.tenure.key(), token = %entry.tenure.token(), %reason, "lease lost");
        entry.tenure.lose(reason);
    }

    fn send_release(&mut self, owner: OwnerValue) {
        let Some(entry) = self.held.get(&owner) else { return };
        let (store, claim) = (Arc::clone(&self.store), entry.tenure.claim().clone());
        let limit = self.settings.attempt_timeout;
        self.under_way.push(Box::pin(async move {
            let answer = within(limit, "a release", &*store, store.release(&claim)).await;
            Event::Released { owner, answer }
        }));
    }

    fn released(&mut self, owner: OwnerValue, answer: Result<Surrender, StoreError>) {
        let Some(mut entry) = self.held.remove(&owner) else { return };
        if let Some(at) = entry.wake_at.take() {
            self.wakes.remove(&(at, *owner.as_bytes()));
        }
        let lost =
            |reason| LeaseLost { key: entry.tenure.key().clone(), token: entry.tenure.token(), reason };
        let (said, error) = match answer {
            Ok(Surrender::Released) => (Parting::Freed, None),
            Ok(Surrender::NotMine) => (Parting::NotMine, None),
            Err(error) => (Parting::Unanswered, Some(error)),
        };
        let outcome = match (entry.term.parted(said), error) {
            (Fate::Lost(reason), _) => ReleaseOutcome::AlreadyLost(lost(reason)),
            (Fate::Unconfirmed, Some(error)) => ReleaseOutcome::Unconfirmed(error),
            (Fate::Released | Fate::Unconfirmed, _) => ReleaseOutcome::Released,
        };
        let store = self.store_name();
        measures::held(store, -1);
        measures::count(measures::RELEASES, store, "outcome", outcome.label());
        if entry.term.loss().is_none() {
            measures::time(measures::HOLD_TIME, store, self.clock.now().since(entry.since));
        }
        debug!(key = %entry.tenure.key(), token = %entry.tenure.token(), ?outcome, "lease given back");
        if let Some(reply) = entry.reply.take() {
            // Nobody waits when the releasing future was dropped.
            let _unheard = reply.send(outcome);
        }
    }

    fn store_name(&self) -> &'static str {
        self.store.capabilities().name()
    }

    /// Puts the lease's next moment into the order of all.
    fn plan(&mut self, owner: OwnerValue) {
        let Some(entry) = self.held.get_mut(&owner) else { return };
        let next = entry.term.wake_at();
        if entry.wake_at == next {
            return;
        }
        if let Some(before) = entry.wake_at {
            self.wakes.remove(&(before, *owner.as_bytes()));
        }
        if let Some(next) = next {
            self.wakes.insert((next, *owner.as_bytes()));
        }
        entry.wake_at = next;
    }
}

async fn sleep_until(nap: Option<Duration>) {
    match nap {
        Some(nap) => tokio::time::sleep(nap).await,
        None => std::future::pending().await,
    }
}

/// One request with its own limit, which covers reconnecting too. After a timeout the store must not trust its
/// connection.
pub(crate) async fn within<T>(
    limit: Duration,
    action: &'static str,
    store: &dyn AnyStore,
    request: BoxFuture<'_, Result<T, StoreError>>,
) -> Result<T, StoreError> {
    match tokio::time::timeout(limit, request).await {
        Ok(answer) => answer,
        Err(_) => {
            store.reset();
            Err(StoreError::TimedOut { store: store.capabilities().name(), action, after: limit })
        }
    }
}
