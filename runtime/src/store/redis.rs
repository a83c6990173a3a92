//! Leases in Redis or Valkey. Each operation is one script: what it compares and what it changes is one step.

pub(super) mod failure;
pub(super) mod hints;
pub(super) mod server;

use std::sync::Arc;
use std::time::Duration;

use redis::{Client, IntoConnectionInfo, RedisError};

use self::failure::unintelligible;
use self::hints::Hints;
use self::server::{Prepared, Server};
use super::{
    Acquisition, Capabilities, Claim, Grant, LeaseStore, Renewal, StoreError, Surrender, TokenDurability,
    Watch,
};
use crate::key::LeaseKey;
use crate::token::{FencingToken, OwnerValue};

const NAME: &str = "redis";

/// Over so many counters the keys of a namespace are spread, and so over a cluster. Part of the layout of the
/// data: a key that moved to another counter would have its tokens go back.
const SHARDS: u32 = 64;

/// `KEYS`: lease, counter. `ARGV`: owner value, TTL in milliseconds. Gives the token, 0 and the time left, or -1 for
/// a request that was here before, which a client of a cluster may have sent again.
/// The counter first: if it is at its end or of a wrong type, the lease must not have been set. It is read as a text,
/// since numbers of Lua lose their last digits above 2^53.
const ACQUIRE: &str = "\
local holder = redis.call('GET', KEYS[1])
if holder == ARGV[1] then
    return {-1, 0}
end
if holder then
    return {0, redis.call('PTTL', KEYS[1])}
end
redis.call('INCR', KEYS[2])
redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
return {redis.call('GET', KEYS[2]), 0}
";

/// `KEYS`: lease. `ARGV`: owner value, TTL in milliseconds.
const RENEW: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then
    return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
";

/// `KEYS`: lease. `ARGV`: owner value. Waiters are told; an ACL that forbids it must not undo the release.
const RELEASE: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then
    redis.call('DEL', KEYS[1])
    redis.pcall('PUBLISH', KEYS[1], 'released')
    return 1
end
return 0
";

/// `KEYS`: lease.
const HOLDER: &str = "return redis.call('GET', KEYS[1])";

/// Leases in one Redis or Valkey server, or in a cluster of them. Clones share one connection for requests and, once somebody waits, one
/// for hints.
///
/// A lease is the key `{namespace:NN}:lease:<name>`, its counter `{namespace:NN}:token`, where `NN` is one of 64
/// shards: both are in one hash slot. The counters have no TTL and must not be evicted (`noeviction` or a
/// `volatile-*` policy). Redis answers before its replicas have the grant, and before the disk has it unless
/// `appendfsync always` is set; so a failover or a crash can bring old tokens back.
#[derive(Clone)]
pub struct RedisStore(Arc<Shared>);

struct Shared {
    server: Server,
    namespace: String,
    hints: Hints,
    acquire: Prepared,
    renew: Prepared,
    release: Prepared,
    holder: Prepared,
}

impl RedisStore {
    /// A store at `address`, such as `redis://127.0.0.1/`, with its keys under the namespace `leasehold`.
    /// Connects when it is first used.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the address cannot be understood.
    pub fn new(address: impl IntoConnectionInfo) -> Result<Self, StoreError> {
        Self::in_namespace(address, "leasehold")
    }

    /// As [`new`](RedisStore::new), with the keys under another namespace. Braces in it are replaced, since
    /// Redis Cluster reads them as a hash tag.
    ///
    /// # Errors
    /// As [`new`](RedisStore::new).
    pub fn in_namespace(address: impl IntoConnectionInfo, namespace: &str) -> Result<Self, StoreError> {
        let client = Client::open(address).map_err(bad_address)?;
        Ok(Self::on(Server::new(client), namespace))
    }

    /// A store in a Redis or Valkey Cluster, to which these addresses of some of its nodes lead, with its keys under
    /// the namespace. Connects when it is first used.
    ///
    /// Each lease and its counter are on one node. A cluster's failover can lose the last writes of a node, and with
    /// them tokens and leases.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when an address cannot be understood, or when there is none.
    #[cfg(feature = "redis-cluster")]
    pub fn cluster(
        addresses: impl IntoIterator<Item = impl IntoConnectionInfo>,
        namespace: &str,
    ) -> Result<Self, StoreError> {
        let clients = addresses.into_iter().map(|address| Client::open(address).map_err(bad_address));
        let clients = clients.collect::<Result<Vec<_>, _>>()?;
        Ok(Self::on(Server::of_cluster(clients).map_err(bad_address)?, namespace))
    }

    fn on(server: Server, namespace: &str) -> Self {
        let namespace = namespace.replace(['{', '}'], "_");
        let [acquire, renew, release, holder] = [ACQUIRE, RENEW, RELEASE, HOLDER].map(Prepared::new);
        let hints = Hints::default();
        Self(Arc::new(Shared { server, namespace, hints, acquire, renew, release, holder }))
    }

    fn names(&self, key: &LeaseKey) -> Names {
        let tag = format!("{{{}:{:02}}}", self.0.namespace, shard(key));
        Names { lease: format!("{tag}:lease:{}", key.as_str()), counter: format!("{tag}:token") }
    }
}

struct Names {
    lease: String,
    counter: String,
}

impl LeaseStore for RedisStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new(NAME).tokens(TokenDurability::WithData).with_hints()
    }

    async fn acquire(&self, claim: &Claim) -> Result<Acquisition, StoreError> {
        const ACTION: &str = "an acquire";
        let names = self.names(&claim.key);
        let (owner, ttl) = (claim.owner.to_hex(), claim.ttl_milliseconds().to_string());
        let keys = [names.lease.as_str(), names.counter.as_str()];
        let (number, left): (i64, i64) =
            self.0.server.run(ACTION, &self.0.acquire, &keys, &[&owner, &ttl]).await?;
        if number == -1 {
            // What the first one was given is not known here; the core will have it taken back.
            let cause = "the request arrived twice".into();
            return Err(StoreError::Unready { store: NAME, action: ACTION, cause });
        }
        if number == 0 {
            let ends_within = u64::try_from(left).ok().map(Duration::from_millis);
            return Ok(Acquisition::Held { ends_within });
        }
        let token = FencingToken::try_from(number).map_err(|error| unintelligible(ACTION, error))?;
        Ok(Acquisition::Granted(Grant { token, ttl: claim.ttl }))
    }

    async fn renew(&self, claim: &Claim) -> Result<Renewal, StoreError> {
        let names = self.names(&claim.key);
        let (owner, ttl) = (claim.owner.to_hex(), claim.ttl_milliseconds().to_string());
        let renewed: i64 =
            self.0.server.run("a renewal", &self.0.renew, &[&names.lease], &[&owner, &ttl]).await?;
        Ok(if renewed == 1 { Renewal::Renewed { ttl: claim.ttl } } else { Renewal::NotMine })
    }

    async fn release(&self, claim: &Claim) -> Result<Surrender, StoreError> {
        let names = self.names(&claim.key);
        let owner = claim.owner.to_hex();
        let released: i64 =
            self.0.server.run("a release", &self.0.release, &[&names.lease], &[&owner]).await?;
        Ok(if released == 1 { Surrender::Released } else { Surrender::NotMine })
    }

    async fn holder(&self, key: &LeaseKey) -> Result<Option<OwnerValue>, StoreError> {
        let owner: Option<String> = self
            .0
            .server
            .run("asking for the holder", &self.0.holder, &[&self.names(key).lease], &[])
            .await?;
        Ok(owner.as_deref().and_then(OwnerValue::from_hex))
    }

    async fn watch(&self, key: &LeaseKey) -> Result<Watch, StoreError> {
        self.0.hints.listen(self.0.server.clients(), key, self.names(key).lease).await
    }

    fn reset(&self) {
        self.0.server.reset();
    }
}

fn bad_address(error: RedisError) -> StoreError {
    StoreError::Refused {
        store: NAME,
        action: "its address",
        cause: error.into(),
        advice: "write it as redis://user:password@host:port/database",
    }
}

/// FNV-1a, which is the same on every machine and in every version.
fn shard(key: &LeaseKey) -> u32 {
    let hash = key
        .as_str()
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash % SHARDS
}

impl std::fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The client knows the password.
        f.debug_struct("RedisStore").field("namespace", &self.0.namespace).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Redis Cluster hashes of a key: what is between the first brace and the next, if that is something.
    fn hashed(key: &str) -> &str {
        let inside = key.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
        inside.map_or(key, |(tag, _)| if tag.is_empty() { key } else { tag })
    }

    #[test]
    fn a_lease_and_its_counter_are_in_one_slot() {
        for namespace in ["leasehold", "", "{}", "a{b}c", "}{"] {
            let store = RedisStore::in_namespace("redis://127.0.0.1/", namespace).unwrap();
            let odd = ["{", "}", "{}", "{a}{b}", "a{b", "}{", "ü{😀}"].map(str::to_owned);
            for name in odd.into_iter().chain((0..10_000).map(|number| format!("lease {number}"))) {
                let names = store.names(&LeaseKey::new(name).unwrap());
                assert_eq!(hashed(&names.lease), hashed(&names.counter), "{}", names.lease);
                assert_ne!(hashed(&names.lease), names.lease);
            }
        }
    }

    #[test]
    fn leases_are_spread_over_the_shards() {
        let mut shards = [0; SHARDS as usize];
        for number in 0..6400 {
            shards[shard(&LeaseKey::new(format!("lease {number}")).unwrap()) as usize] += 1;
        }
        assert!(shards.iter().all(|leases| (20..400).contains(leases)), "{shards:?}");
    }
}
