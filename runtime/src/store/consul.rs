//! Leases in Consul, over its HTTP interface. A grant is a session with a TTL and one key, locked in one transaction;
//! Consul ends both by itself.

mod failure;
mod hints;
mod wire;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::Method;
use hyper::body::Bytes;
use hyper::header::{HeaderName, HeaderValue};
use serde::de::{DeserializeOwned, IgnoredAny};
use tracing::debug;

use self::failure::{Failure, refused, unintelligible, unreachable};
use self::hints::{Hints, News};
use self::wire::{
    Entry, Named, NewSession, Outcome, Session, Step, from_milliseconds, milliseconds, spelled,
};
use super::http::{Address, Answer, Ask, Http};
use super::{
    Acquisition, Capabilities, Claim, Grant, LeaseStore, Renewal, StoreError, Surrender, TokenDurability,
    Watch,
};
use crate::key::LeaseKey;
use crate::token::{FencingToken, OwnerValue};

const NAME: &str = "consul";

const A_DAY: Duration = Duration::from_secs(86_400);

/// Consul keeps no longer delay.
const LONGEST_LOCK_DELAY: Duration = Duration::from_secs(60);

/// What a [`ConsulStore`] may be told besides an address.
#[derive(Debug, Clone)]
pub struct ConsulOptions {
    namespace: String,
    least_ttl: Duration,
    lock_delay: Option<Duration>,
}

impl Default for ConsulOptions {
    fn default() -> Self {
        Self { namespace: "leasehold".to_owned(), least_ttl: Duration::from_secs(10), lock_delay: None }
    }
}

impl ConsulOptions {
    /// The keys begin with this and a slash. Default: `leasehold`. Letters, digits, `-`, `_` and `/` only, or newer
    /// agents refuse to answer.
    #[must_use]
    pub fn namespace(mut self, namespace: &str) -> Self {
        namespace.trim_matches('/').clone_into(&mut self.namespace);
        self
    }

    /// The agents' `session_ttl_min`, if it is not Consul's own of 10 seconds.
    #[must_use]
    pub fn least_ttl(mut self, least: Duration) -> Self {
        self.least_ttl = least;
        self
    }

    /// How long nobody gets a key whose session was ended for its holder, by its TTL or by an operator; at most a
    /// minute. A release needs none. Default: the TTL of the lease, after which its holder has stopped whatever
    /// happened; shorter lets others in earlier when a holder has died, and leaves the rest to fencing.
    #[must_use]
    pub fn lock_delay(mut self, delay: Duration) -> Self {
        self.lock_delay = Some(delay.min(LONGEST_LOCK_DELAY));
        self
    }
}

/// Leases in Consul, through one or several agents. Clones share some 16 connections for requests, and one for each
/// key for which somebody waits.
///
/// A lease is the key `namespace/<name>` with the owner value, locked by a session of its own; characters of the name
/// that Consul does not take are spelled as `,` and two digits. Its token is the `ModifyIndex` of the locked key, the
/// number of the change in the servers' common log, so tokens have gaps, and all keys share one order. `LockIndex`,
/// which Consul's own documentation proposes, begins anew when a key was deleted.
///
/// TTLs are from 10 seconds, unless the agents' `session_ttl_min` was set lower, to a day. Consul ends a session no
/// earlier than its TTL says, and by itself only after twice as long; after a change of the leader it begins to count
/// anew. The lock delay comes on top. So others wait for three TTLs when a holder has died; a release frees at once.
///
/// # How far tokens grow
///
/// Through crashes and failovers, as long as a majority of the servers keep their data. Not when a new cluster takes
/// the place of an old one, with or without its snapshot, and not when an agent in development mode restarts.
#[derive(Clone)]
pub struct ConsulStore(Arc<Shared>);

struct Shared {
    http: Http,
    token: Option<HeaderValue>,
    options: ConsulOptions,
    /// The sessions of our own claims; those of others are found by their keys.
    sessions: Mutex<HashMap<OwnerValue, String>>,
    hints: Hints,
}

impl ConsulStore {
    /// A store at the agent at `address`, such as `http://127.0.0.1:8500`, or several, parted by commas, of which one
    /// is asked and the others take its place when it does not answer. An ACL token may stand as the password before
    /// the host: `http://:token@127.0.0.1:8500`. Connects when it is first used. Without TLS, so for an agent on the
    /// same host or a network that you trust.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the address cannot be understood.
    pub fn new(address: &str) -> Result<Self, StoreError> {
        Self::with_options(address, ConsulOptions::default())
    }

    /// As [`new`](ConsulStore::new), with options.
    ///
    /// # Errors
    /// As [`new`](ConsulStore::new).
    pub fn with_options(address: &str, options: ConsulOptions) -> Result<Self, StoreError> {
        const ADVICE: &str = "write it as http://:token@host:port";
        let bad = |cause| refused("its address", cause, ADVICE);
        let Address { servers, user } = Address::read(address).map_err(|error| bad(error.into()))?;
        let token = user.map(|user| HeaderValue::try_from(user.password)).transpose();
        let mut token = token.map_err(|_| bad("the token has characters that no token has".into()))?;
        if let Some(token) = &mut token {
            token.set_sensitive(true);
        }
        let (http, sessions, hints) = (Http::new(servers), Mutex::default(), Hints::default());
        Ok(Self(Arc::new(Shared { http, token, options, sessions, hints })))
    }
}

impl Shared {
    fn name(&self, key: &LeaseKey) -> String {
        format!("{}/{}", self.options.namespace, spelled(key.as_str()))
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<OwnerValue, String>> {
        // No step can panic half way through a change.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn request(&self, method: Method, path: String, body: impl Into<Bytes>) -> Ask {
        const TOKEN: HeaderName = HeaderName::from_static("x-consul-token");
        let headers = self.token.iter().map(|token| (TOKEN, token.clone())).collect();
        Ask { method, path, headers, body: body.into() }
    }

    async fn put<T: DeserializeOwned>(
        &self,
        action: &'static str,
        path: String,
        body: impl Into<Bytes>,
    ) -> Result<T, Failure> {
        let ask = self.request(Method::PUT, path, body);
        let answer = self.http.ask(&ask).await.map_err(|cause| Failure::Other(unreachable(action, cause)))?;
        self.read(action, &answer)
    }

    fn read<T: DeserializeOwned>(&self, action: &'static str, answer: &Answer) -> Result<T, Failure> {
        if !answer.status.is_success() {
            let failure = Failure::from_answer(action, answer.status, &answer.body);
            if matches!(failure, Failure::Unready(_)) {
                self.http.leave(answer.server);
            }
            return Err(failure);
        }
        serde_json::from_slice(&answer.body).map_err(|error| Failure::Other(unintelligible(action, error)))
    }

    /// All steps or none; gives the entry of the last one that has one.
    async fn transaction(&self, action: &'static str, steps: &[Step<'_>]) -> Result<Option<Entry>, Failure> {
        let body =
            serde_json::to_vec(steps).map_err(|error| Failure::Other(unintelligible(action, error)))?;
        // For transactions that only read: the leader asks the others whether it still is.
        let outcome: Outcome = self.put(action, "/v1/txn?consistent".to_owned(), body).await?;
        Ok(outcome.results.unwrap_or_default().into_iter().filter_map(|result| result.kv).next_back())
    }

    /// What is under the name.
    async fn entry(&self, action: &'static str, name: &str) -> Result<Option<Entry>, Failure> {
        match self.transaction(action, &[Step::get(name)]).await {
            Err(Failure::Conflict(said)) if said.contains("doesn't exist") => Ok(None),
            found => found,
        }
    }

    async fn create_session(&self, action: &'static str, ttl: Duration) -> Result<String, Failure> {
        let lock_delay = self.options.lock_delay.unwrap_or(ttl.min(LONGEST_LOCK_DELAY));
        let session = NewSession {
            name: "leasehold",
            ttl: milliseconds(ttl),
            lock_delay: milliseconds(lock_delay),
            behavior: "delete",
            checks: [],
            node_checks: [],
        };
        let body =
            serde_json::to_vec(&session).map_err(|error| Failure::Other(unintelligible(action, error)))?;
        let named: Named = self.put(action, "/v1/session/create".to_owned(), body).await?;
        // It becomes part of paths.
        let sound = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if named.id.is_empty() || !named.id.bytes().all(sound) {
            return Err(Failure::Other(unintelligible(action, "a session without a name")));
        }
        Ok(named.id)
    }

    /// Ends a session that holds nothing. Nobody waits for it: without this it would end by its TTL.
    fn end_soon(self: &Arc<Self>, session: String) {
        const ACTION: &str = "ending a session";
        let shared = Arc::clone(self);
        tokio::spawn(async move {
            let path = format!("/v1/session/destroy/{session}");
            if let Err(error) = shared.put::<IgnoredAny>(ACTION, path, Bytes::new()).await {
                debug!(error = %error.into_error(ACTION), "a session ends by its TTL");
            }
        });
    }

    /// The session of a claim: remembered, or found under its key.
    async fn session(&self, action: &'static str, claim: &Claim) -> Result<Option<String>, StoreError> {
        if let Some(session) = self.sessions().get(&claim.owner) {
            return Ok(Some(session.clone()));
        }
        let entry = self.entry(action, &self.name(&claim.key)).await;
        let entry = entry.map_err(|failure| failure.into_error(action))?;
        let entry = entry.filter(|entry| entry.owner() == Some(claim.owner));
        Ok(entry.and_then(|entry| entry.held_by().map(str::to_owned)))
    }

    async fn extend(&self, action: &'static str, session: &str) -> Result<Option<Duration>, Failure> {
        let path = format!("/v1/session/renew/{session}");
        let renewed: Vec<Session> = match self.put(action, path, Bytes::new()).await {
            Err(Failure::NoSession) => return Ok(None),
            answer => answer?,
        };
        let ttl = renewed.first().and_then(|session| from_milliseconds(&session.ttl));
        ttl.map(Some).ok_or_else(|| Failure::Other(unintelligible(action, "a session without its TTL")))
    }

    /// Whether a key is held. With an index and a span: when that has changed, or after the span.
    async fn news(&self, key: &LeaseKey, since: Option<(u64, Duration)>) -> Result<News, StoreError> {
        const ACTION: &str = "listening for releases";
        let mut path = format!("/v1/kv/{}", self.name(key));
        if let Some((index, span)) = since {
            path = format!("{path}?index={index}&wait={}", milliseconds(span));
        }
        let ask = self.request(Method::GET, path, Bytes::new());
        let answer = match since {
            Some(_) => self.http.wait(&ask).await,
            None => self.http.ask(&ask).await,
        };
        let answer = answer.map_err(|cause| unreachable(ACTION, cause))?;
        let index = answer.headers.get("x-consul-index").and_then(|index| index.to_str().ok()?.parse().ok());
        let index = index.ok_or_else(|| unintelligible(ACTION, "no index"))?;
        if answer.status == hyper::StatusCode::NOT_FOUND {
            return Ok(News { index, held: false });
        }
        let entries: Vec<Entry> = self.read(ACTION, &answer).map_err(|failure| failure.into_error(ACTION))?;
        Ok(News { index, held: entries.iter().any(|entry| entry.held_by().is_some()) })
    }

    /// Locks the key by a session, and gives the number of that change; nothing when it cannot be had.
    async fn lock(
        &self,
        action: &'static str,
        claim: &Claim,
        session: &str,
    ) -> Result<Option<u64>, StoreError> {
        let name = self.name(&claim.key);
        match self.transaction(action, &[Step::lock(&name, session, &claim.owner)]).await {
            Ok(Some(entry)) => Ok(Some(entry.modify_index)),
            Ok(None) => {
                let advice = "the token must also be allowed to read keys that begin with the namespace";
                Err(refused(action, "the answer was withheld".into(), advice))
            }
            // By another session, or not yet by anybody after one was ended.
            Err(Failure::Conflict(said)) if said.contains("failed to lock key") => Ok(None),
            Err(failure) => Err(failure.into_error(action)),
        }
    }
}

impl LeaseStore for ConsulStore {
    fn capabilities(&self) -> Capabilities {
        let options = &self.0.options;
        let capabilities = Capabilities::new(NAME)
            .ttl_between(options.least_ttl, A_DAY)
            .tokens(TokenDurability::Consensus)
            .with_hints();
        // Consul itself waits twice as long as it was told.
        match options.lock_delay {
            Some(delay) => capabilities.expires_late_by_ttls(1).expires_late_by(delay),
            None => capabilities.expires_late_by_ttls(2),
        }
    }

    async fn acquire(&self, claim: &Claim) -> Result<Acquisition, StoreError> {
        const ACTION: &str = "an acquire";
        let shared = &self.0;
        // A waiter mostly finds that it has to wait on. Looking costs the servers no agreement; a session does, and
        // one more to end it.
        if shared.hints.are_wanted(&claim.key) {
            let entry = shared.entry(ACTION, &shared.name(&claim.key)).await;
            let entry = entry.map_err(|failure| failure.into_error(ACTION))?;
            if entry.is_some_and(|entry| entry.held_by().is_some()) {
                return Ok(Acquisition::Held { ends_within: None });
            }
        }
        let created = shared.create_session(ACTION, claim.ttl).await;
        let session = created.map_err(|failure| failure.into_error(ACTION))?;
        // Before the lock: if its answer is lost, the release must know the session.
        shared.sessions().insert(claim.owner, session.clone());
        let locked = shared.lock(ACTION, claim, &session).await;
        match locked {
            Ok(Some(number)) => {
                let token = FencingToken::try_from(number).map_err(|error| unintelligible(ACTION, error))?;
                Ok(Acquisition::Granted(Grant { token, ttl: claim.ttl }))
            }
            // The outcome is not known; the core will release, which ends the session too.
            Err(error) if error.is_retryable() => Err(error),
            other => {
                shared.sessions().remove(&claim.owner);
                shared.end_soon(session);
                other.map(|_| Acquisition::Held { ends_within: None })
            }
        }
    }

    /// Renews the session and, in a second request beside it, looks whether the key is still under it: whoever deletes
    /// the key by hand takes the lease away, and Consul would keep a session without one alive.
    async fn renew(&self, claim: &Claim) -> Result<Renewal, StoreError> {
        const ACTION: &str = "a renewal";
        let Some(session) = self.0.session(ACTION, claim).await? else { return Ok(Renewal::NotMine) };
        let name = self.0.name(&claim.key);
        let check = [Step::check(&name, &session)];
        let (extended, checked) =
            tokio::join!(self.0.extend(ACTION, &session), self.0.transaction(ACTION, &check));
        match (extended, checked) {
            (Ok(None), _) | (_, Err(Failure::Conflict(_))) => Ok(Renewal::NotMine),
            (Ok(Some(ttl)), Ok(_)) => Ok(Renewal::Renewed { ttl }),
            (Err(failure), _) | (_, Err(failure)) => Err(failure.into_error(ACTION)),
        }
    }

    async fn release(&self, claim: &Claim) -> Result<Surrender, StoreError> {
        const ACTION: &str = "a release";
        let Some(session) = self.0.session(ACTION, claim).await? else { return Ok(Surrender::NotMine) };
        self.0.sessions().remove(&claim.owner);
        let name = self.0.name(&claim.key);
        // The key first: a session that ends with a key leaves the lock delay behind.
        let freed = self.0.transaction(ACTION, &[Step::check(&name, &session), Step::delete(&name)]).await;
        self.0.end_soon(session);
        match freed {
            Ok(_) => Ok(Surrender::Released),
            Err(Failure::Conflict(_)) => Ok(Surrender::NotMine),
            Err(failure) => Err(failure.into_error(ACTION)),
        }
    }

    async fn holder(&self, key: &LeaseKey) -> Result<Option<OwnerValue>, StoreError> {
        const ACTION: &str = "asking for the holder";
        let entry = self.0.entry(ACTION, &self.0.name(key)).await;
        let entry = entry.map_err(|failure| failure.into_error(ACTION))?;
        Ok(entry.filter(|entry| entry.held_by().is_some()).and_then(|entry| entry.owner()))
    }

    async fn watch(&self, key: &LeaseKey) -> Result<Watch, StoreError> {
        self.0.hints.listen(&self.0, key).await
    }

    fn reset(&self) {
        self.0.http.reset();
    }
}

impl std::fmt::Debug for ConsulStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The token is a secret.
        f.debug_struct("ConsulStore").field("options", &self.0.options).finish_non_exhaustive()
    }
}
