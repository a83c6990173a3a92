//! The stores that the suite knows, by the words with which a worker is told of one. A store is added by a variant
//! here and a subject in `subjects`.

use std::sync::Arc;
use std::time::Duration;

use leasehold::store::consul::{ConsulOptions, ConsulStore};
use leasehold::store::etcd::EtcdStore;
use leasehold::store::mysql::MysqlStore;
use leasehold::store::postgres::PostgresStore;
use leasehold::store::redis::RedisStore;
use leasehold::store::redlock::RedlockStore;
use leasehold::store::sqlite::SqliteStore;
use leasehold::store::{Acquisition, Capabilities, Claim, Renewal, Surrender, Watch};
use leasehold::{LeaseKey, LeaseStore, OwnerValue, StoreError};

use crate::history::{Event, Journal, now};

pub enum Store {
    Redis(RedisStore),
    Postgres(PostgresStore),
    Sqlite(SqliteStore),
    Redlock(RedlockStore),
    Mysql(MysqlStore),
    Etcd(EtcdStore),
    Consul(ConsulStore),
}

/// The TTLs of the stand-in for Consul.
pub const CONSUL_LEAST_TTL: Duration = Duration::from_millis(500);

macro_rules! each {
    ($store:expr, $inner:ident => $do:expr) => {
        match $store {
            Store::Redis($inner) => $do,
            Store::Postgres($inner) => $do,
            Store::Sqlite($inner) => $do,
            Store::Redlock($inner) => $do,
            Store::Mysql($inner) => $do,
            Store::Etcd($inner) => $do,
            Store::Consul($inner) => $do,
        }
    };
}

impl Store {
    /// Opens the store at a place such as `redis=redis://127.0.0.1/`.
    pub fn at(place: &str) -> Self {
        let (kind, address) = place.split_once('=').expect("a place is a kind and an address");
        let opened = match kind {
            "redis" => RedisStore::new(address).map(Self::Redis),
            "postgres" => PostgresStore::new(address).map(Self::Postgres),
            "sqlite" => SqliteStore::open(address).map(Self::Sqlite),
            "redlock" => RedlockStore::new(address.split(',')).map(Self::Redlock),
            "mysql" => MysqlStore::new(address).map(Self::Mysql),
            "etcd" => EtcdStore::new(address).map(Self::Etcd),
            "consul" => {
                // Without a lock delay sleepers are not covered: only the storage can stop them.
                let options = ConsulOptions::default().least_ttl(CONSUL_LEAST_TTL).lock_delay(Duration::ZERO);
                ConsulStore::with_options(address, options).map(Self::Consul)
            }
            _ => panic!("there is no store `{kind}`"),
        };
        opened.expect("the address is right")
    }
}

impl LeaseStore for Store {
    fn capabilities(&self) -> Capabilities {
        each!(self, store => store.capabilities())
    }

    async fn acquire(&self, claim: &Claim) -> Result<Acquisition, StoreError> {
        each!(self, store => store.acquire(claim).await)
    }

    async fn renew(&self, claim: &Claim) -> Result<Renewal, StoreError> {
        each!(self, store => store.renew(claim).await)
    }

    async fn release(&self, claim: &Claim) -> Result<Surrender, StoreError> {
        each!(self, store => store.release(claim).await)
    }

    async fn watch(&self, key: &LeaseKey) -> Result<Watch, StoreError> {
        each!(self, store => store.watch(key).await)
    }

    async fn holder(&self, key: &LeaseKey) -> Result<Option<OwnerValue>, StoreError> {
        each!(self, store => store.holder(key).await)
    }

    fn reset(&self) {
        each!(self, store => store.reset());
    }
}

/// A store that writes down what it was asked and what it said.
pub struct Recorded {
    pub store: Store,
    pub journal: Arc<Journal>,
}

impl LeaseStore for Recorded {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    async fn acquire(&self, claim: &Claim) -> Result<Acquisition, StoreError> {
        let sent = now();
        let answer = self.store.acquire(claim).await;
        if let Ok(Acquisition::Granted(grant)) = &answer {
            self.journal.note(&Event::Granted {
                account: claim.key.as_str().to_owned(),
                owner: claim.owner.to_hex(),
                token: grant.token.as_i64(),
                sent,
                received: now(),
            });
        }
        answer
    }

    async fn renew(&self, claim: &Claim) -> Result<Renewal, StoreError> {
        let sent = now();
        let answer = self.store.renew(claim).await;
        if let Ok(said) = &answer {
            let mine = matches!(said, Renewal::Renewed { .. });
            self.journal.note(&Event::Renewed { owner: claim.owner.to_hex(), sent, mine });
        }
        answer
    }

    async fn release(&self, claim: &Claim) -> Result<Surrender, StoreError> {
        let sent = now();
        let answer = self.store.release(claim).await;
        if let Ok(said) = &answer {
            let mine = matches!(said, Surrender::Released);
            self.journal.note(&Event::Released { owner: claim.owner.to_hex(), sent, mine });
        }
        answer
    }

    async fn watch(&self, key: &LeaseKey) -> Result<Watch, StoreError> {
        self.store.watch(key).await
    }

    async fn holder(&self, key: &LeaseKey) -> Result<Option<OwnerValue>, StoreError> {
        self.store.holder(key).await
    }

    fn reset(&self) {
        self.store.reset();
    }
}
