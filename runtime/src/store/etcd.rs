//! Leases in etcd, over its JSON gateway. A grant is an etcd lease with one key, put in one transaction that finds
//! no such key; etcd ends both by itself.

mod failure;
mod hints;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use hyper::Method;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tracing::debug;

use self::failure::{Failure, refused, unintelligible, unreachable};
use self::hints::Hints;
use self::wire::{
    Authenticate, Authenticated, Decision, Entries, GrantLease, KeptAlive, LeaseLasts, NamedLease, Number,
    PutIfNew, Range, WatchDeletions, read_message,
};
use super::http::{Address, Ask, Http, User};
use super::link::Link;
use super::{
    Acquisition, Capabilities, Claim, Grant, LeaseStore, Renewal, StoreError, Surrender, TokenDurability,
    Watch,
};
use crate::key::LeaseKey;
use crate::token::{FencingToken, OwnerValue};

const NAME: &str = "etcd";

/// What servers with etcd's own election timeout of a second give to whoever asks for less.
const LEAST_TTL: Duration = Duration::from_secs(2);

/// etcd looks for ended leases twice a second, and removes them with the next agreement of its servers.
const LATE: Duration = Duration::from_secs(2);

/// Leases in etcd 3.4 or later. Clones share some 16 connections for requests and, once somebody waits, one for
/// hints, which also come when a lease has ended by its TTL.
///
/// A lease is the key `namespace/<name>` with the owner value, under an etcd lease of its own, whose number is made
/// of the owner value. Its token is the revision of the cluster in which the key was put: it grows with every
/// change of anything in etcd, so tokens have gaps, and all keys share one order.
///
/// TTLs are whole seconds, at least 2. etcd never ends a lease early; it counts on a clock of its own that does not
/// jump. It may end one late: by half a second or so, and after a change of its leader by up to a whole TTL, since
/// the new leader begins to count anew.
///
/// # How far tokens grow
///
/// Through crashes and failovers, as long as a majority of the servers keep their data. Not through
/// `etcdutl snapshot restore` (unless with `--bump-revision`) or a new cluster under the old address: there the
/// revision is lower, and storage that remembers refuses the tokens until it has caught up. Servers of one node
/// before 3.5 could lose the last write in a crash of the host (etcd's issue 14370).
#[derive(Clone)]
pub struct EtcdStore(Arc<Shared>);

struct Shared {
    http: Http,
    user: Option<User>,
    /// What the server has given for user and password.
    pass: Link<HeaderValue>,
    namespace: String,
    hints: Hints,
}

impl EtcdStore {
    /// A store in the cluster at `address`: one server such as `http://127.0.0.1:2379`, or several, parted by
    /// commas, of which one is asked and the others take its place when it does not answer. User and password may
    /// stand before the host. Keys go under the namespace `leasehold`. Connects when it is first used. Without
    /// TLS, so for the same host or a network that you trust.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the address cannot be understood.
    pub fn new(address: &str) -> Result<Self, StoreError> {
        Self::in_namespace(address, "leasehold")
    }

    /// As [`new`](EtcdStore::new), with the keys under another namespace, which may have slashes in it.
    ///
    /// # Errors
    /// As [`new`](EtcdStore::new).
    pub fn in_namespace(address: &str, namespace: &str) -> Result<Self, StoreError> {
        let Address { servers, user } = Address::read(address).map_err(|error| {
            refused("its address", error.into(), "write it as http://user:password@host:port")
        })?;
        let (http, namespace) = (Http::new(servers), namespace.to_owned());
        let (pass, hints) = (Link::new(), Hints::default());
        Ok(Self(Arc::new(Shared { http, user, pass, namespace, hints })))
    }
}

impl Shared {
    fn prefix(&self) -> String {
        format!("{}/", self.namespace)
    }

    fn name(&self, key: &LeaseKey) -> String {
        format!("{}/{}", self.namespace, key.as_str())
    }

    /// Asks for something, as the user if there is one.
    async fn ask<T: DeserializeOwned>(
        &self,
        action: &'static str,
        path: &str,
        message: &impl Serialize,
    ) -> Result<T, Failure> {
        let first = self.ask_once(action, path, message).await;
        match first {
            // A pass lasts some minutes; nothing was done with the one that was too old.
            Err(Failure::WhoAreYou(_)) if self.user.is_some() => self.ask_once(action, path, message).await,
            answer => answer,
        }
    }

    async fn ask_once<T: DeserializeOwned>(
        &self,
        action: &'static str,
        path: &str,
        message: &impl Serialize,
    ) -> Result<T, Failure> {
        let mut ask = request(action, path, message).map_err(Failure::Other)?;
        let Some(user) = &self.user else { return self.send(action, &ask).await };
        let pass = self.pass.get(|| self.authenticate(user)).await?;
        ask.headers.push((AUTHORIZATION, pass.connection.clone()));
        let answer = self.send(action, &ask).await;
        if matches!(answer, Err(Failure::WhoAreYou(_))) {
            self.pass.broken(&pass);
        }
        answer
    }

    async fn authenticate(&self, user: &User) -> Result<HeaderValue, Failure> {
        const ACTION: &str = "authenticating";
        let message = Authenticate { name: &user.name, password: &user.password };
        let ask = request(ACTION, "/v3/auth/authenticate", &message).map_err(Failure::Other)?;
        let answer: Authenticated = self.send(ACTION, &ask).await?;
        let mut pass = HeaderValue::try_from(answer.token)
            .map_err(|error| Failure::Other(unintelligible(ACTION, error)))?;
        pass.set_sensitive(true);
        Ok(pass)
    }

    async fn send<T: DeserializeOwned>(&self, action: &'static str, ask: &Ask) -> Result<T, Failure> {
        let answer = self.http.ask(ask).await.map_err(|cause| Failure::Other(unreachable(action, cause)))?;
        if !answer.status.is_success() {
            let failure = Failure::from_answer(action, answer.status, &answer.body);
            if matches!(failure, Failure::Unready(_)) {
                self.http.leave(answer.server);
            }
            return Err(failure);
        }
        read_message(&answer.body).map_err(|error| Failure::Other(unintelligible(action, error)))
    }

    /// The owner value under the name, if there is one.
    async fn entry(&self, action: &'static str, key: &LeaseKey) -> Result<Option<wire::Entry>, Failure> {
        let range = Range { key: self.name(key).as_str().into() };
        let found: Entries = self.ask(action, "/v3/kv/range", &range).await?;
        Ok(found.kvs.into_iter().next())
    }

    async fn keep_alive(&self, action: &'static str, lease: i64) -> Result<Number, Failure> {
        let message = NamedLease { lease: Number(lease) };
        let answer: KeptAlive = self.ask(action, "/v3/lease/keepalive", &message).await?;
        match answer {
            KeptAlive { error: Some(complaint), .. } => Err(Failure::from_complaint(action, complaint)),
            KeptAlive { result: Some(lasts), .. } => Ok(lasts.seconds),
            KeptAlive { .. } => Err(Failure::Other(unintelligible(action, "nothing"))),
        }
    }

    /// Ends a lease, and with it the key.
    async fn revoke(&self, action: &'static str, lease: i64) -> Result<Surrender, StoreError> {
        let message = NamedLease { lease: Number(lease) };
        let answer: Result<serde::de::IgnoredAny, _> = self.ask(action, "/v3/lease/revoke", &message).await;
        match answer {
            Ok(_) => Ok(Surrender::Released),
            Err(Failure::NoLease) => Ok(Surrender::NotMine),
            Err(failure) => Err(failure.into_error(action)),
        }
    }

    async fn deletions(&self) -> Result<Incoming, StoreError> {
        const ACTION: &str = "listening for releases";
        let first = self.prefix();
        // The character after the slash: what is between the two begins with the prefix.
        let end = format!("{}0", self.namespace);
        let mut ask = request(ACTION, "/v3/watch", &WatchDeletions::between(&first, &end))?;
        if let Some(user) = &self.user {
            let pass = self.pass.get(|| self.authenticate(user)).await;
            let pass = pass.map_err(|failure| failure.into_error(ACTION))?;
            ask.headers.push((AUTHORIZATION, pass.connection));
        }
        let response = self.http.listen(&ask).await.map_err(|cause| unreachable(ACTION, cause))?;
        if !response.status().is_success() {
            return Err(Failure::from_answer(ACTION, response.status(), b"").into_error(ACTION));
        }
        Ok(response.into_body())
    }
}

impl LeaseStore for EtcdStore {
    fn capabilities(&self) -> Capabilities {
        let longest = Capabilities::new(NAME).max_ttl();
        Capabilities::new(NAME)
            .ttl_between(LEAST_TTL, longest)
            .ttl_in_steps_of(Duration::from_secs(1))
            .expires_late_by(LATE)
            .tokens(TokenDurability::Consensus)
            .with_hints()
    }

    async fn acquire(&self, claim: &Claim) -> Result<Acquisition, StoreError> {
        const ACTION: &str = "an acquire";
        let failed = |failure: Failure| failure.into_error(ACTION);
        let shared = &self.0;
        // A waiter mostly finds that it has to wait on. Looking costs the cluster no agreement; a lease does, and
        // one more to end it.
        if shared.hints.are_wanted(&claim.key)
            && shared.entry(ACTION, &claim.key).await.map_err(failed)?.is_some()
        {
            return Ok(Acquisition::Held { ends_within: None });
        }
        let lease = lease_of(&claim.owner);
        let grant = GrantLease { seconds: whole_seconds(claim.ttl), lease: Number(lease) };
        let lasts: LeaseLasts = shared.ask(ACTION, "/v3/lease/grant", &grant).await.map_err(failed)?;
        let put = PutIfNew::new(&shared.name(&claim.key), &claim.owner.to_hex(), lease);
        let decision: Decision = shared.ask(ACTION, "/v3/kv/txn", &put).await.map_err(failed)?;
        if !decision.succeeded {
            // Nobody waits for it: without this the lease would end by its TTL.
            let shared = Arc::clone(shared);
            tokio::spawn(async move {
                if let Err(error) = shared.revoke("ending a lease that was not needed", lease).await {
                    debug!(%error, "a lease without a key ends by its TTL");
                }
            });
            return Ok(Acquisition::Held { ends_within: None });
        }
        let revision = decision.header.revision.0;
        let token = FencingToken::try_from(revision).map_err(|error| unintelligible(ACTION, error))?;
        let ttl = lasting(lasts.seconds).ok_or_else(|| unintelligible(ACTION, "a lease without TTL"))?;
        Ok(Acquisition::Granted(Grant { token, ttl }))
    }

    /// Keeps the lease alive and, in a second request beside it, looks whether the key is still under it: whoever
    /// deletes the key by hand takes the lease away, and etcd would keep an empty one alive.
    async fn renew(&self, claim: &Claim) -> Result<Renewal, StoreError> {
        const ACTION: &str = "a renewal";
        let lease = lease_of(&claim.owner);
        let kept = self.0.keep_alive(ACTION, lease);
        let seen = self.0.entry(ACTION, &claim.key);
        let (seconds, entry) = match tokio::try_join!(kept, seen) {
            Ok(answers) => answers,
            Err(Failure::NoLease) => return Ok(Renewal::NotMine),
            Err(failure) => return Err(failure.into_error(ACTION)),
        };
        let mine = entry.is_some_and(|entry| entry.lease == Number(lease));
        Ok(match lasting(seconds) {
            Some(ttl) if mine => Renewal::Renewed { ttl },
            _ => Renewal::NotMine,
        })
    }

    async fn release(&self, claim: &Claim) -> Result<Surrender, StoreError> {
        self.0.revoke("a release", lease_of(&claim.owner)).await
    }

    async fn holder(&self, key: &LeaseKey) -> Result<Option<OwnerValue>, StoreError> {
        const ACTION: &str = "asking for the holder";
        let found = self.0.entry(ACTION, key).await.map_err(|failure| failure.into_error(ACTION))?;
        let owner = found.and_then(|entry| String::from_utf8(entry.value.0).ok());
        Ok(owner.as_deref().and_then(OwnerValue::from_hex))
    }

    async fn watch(&self, key: &LeaseKey) -> Result<Watch, StoreError> {
        self.0.hints.listen(key, &self.0.prefix(), || self.0.deletions()).await
    }

    fn reset(&self) {
        self.0.http.reset();
    }
}

fn request(action: &'static str, path: &str, message: &impl Serialize) -> Result<Ask, StoreError> {
    const JSON: (HeaderName, HeaderValue) = (CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let body = serde_json::to_vec(message).map_err(|error| unintelligible(action, error))?;
    Ok(Ask { method: Method::POST, path: path.to_owned(), headers: vec![JSON], body: body.into() })
}

/// The number of the etcd lease of an owner: 63 of its random bits. So a release needs to remember nothing, and can
/// end no lease but its own.
fn lease_of(owner: &OwnerValue) -> i64 {
    let [first, second, third, fourth, fifth, sixth, seventh, eighth, ..] = *owner.as_bytes();
    let number = i64::from_be_bytes([first, second, third, fourth, fifth, sixth, seventh, eighth]);
    // 0 would ask etcd to choose one.
    (number & i64::MAX).max(1)
}

/// Never less than what was asked for.
fn whole_seconds(ttl: Duration) -> Number {
    let up = u64::from(ttl.subsec_nanos() > 0);
    Number(i64::try_from(ttl.as_secs().saturating_add(up)).unwrap_or(i64::MAX))
}

/// `None` when the lease has ended.
fn lasting(seconds: Number) -> Option<Duration> {
    u64::try_from(seconds.0).ok().filter(|seconds| *seconds > 0).map(Duration::from_secs)
}

impl std::fmt::Debug for EtcdStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The address may have had a password.
        f.debug_struct("EtcdStore").field("namespace", &self.0.namespace).finish_non_exhaustive()
    }
}
