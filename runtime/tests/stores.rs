//! The conformance suite over every store, on real servers. A store is added by a `Subject` and a line in
//! `main`. Servers start when their first test does, and end with this program.

mod support;

use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use leasehold::store::consul::{ConsulOptions, ConsulStore};
use leasehold::store::etcd::EtcdStore;
use leasehold::store::memory::MemoryStore;
use leasehold::store::mysql::MysqlStore;
use leasehold::store::postgres::PostgresStore;
use leasehold::store::redis::RedisStore;
use leasehold::store::redlock::RedlockStore;
use leasehold::store::sqlite::SqliteStore;
use libtest_mimic::Arguments;
use support::conformance::{Subject, trials};
use support::consul_stand_in::ConsulStandIn;
use support::servers::{self, Server};
use tempfile::TempDir;

#[derive(Clone)]
struct Memory(MemoryStore);

impl Subject for Memory {
    type Store = MemoryStore;

    async fn open(&self) -> MemoryStore {
        self.0.clone()
    }

    fn shared_between_processes(&self) -> bool {
        false
    }
}

#[derive(Clone)]
struct Sqlite(Arc<TempDir>);

impl Subject for Sqlite {
    type Store = SqliteStore;

    async fn open(&self) -> SqliteStore {
        SqliteStore::open(self.0.path().join("leases.db")).expect("the directory is ours")
    }
}

/// A server that starts when it is first needed.
#[derive(Clone)]
struct Lazy {
    server: Arc<OnceLock<Server>>,
    start: fn() -> Server,
}

impl Lazy {
    fn new(start: fn() -> Server) -> Self {
        Self { server: Arc::default(), start }
    }

    fn get(&self) -> &Server {
        self.server.get_or_init(self.start)
    }
}

#[derive(Clone)]
struct Redis(Lazy);

impl Subject for Redis {
    type Store = RedisStore;

    async fn open(&self) -> RedisStore {
        RedisStore::new(servers::redis_address(self.0.get())).expect("the address is right")
    }
}

#[derive(Clone)]
struct Cluster(Arc<OnceLock<Vec<Server>>>);

impl Subject for Cluster {
    type Store = RedisStore;

    async fn open(&self) -> RedisStore {
        let nodes = self.0.get_or_init(|| servers::redis_cluster(false));
        let addresses = nodes.iter().map(servers::redis_address);
        RedisStore::cluster(addresses, "leasehold").expect("the addresses are right")
    }
}

#[derive(Clone)]
struct Redlock(Arc<OnceLock<Vec<Server>>>);

impl Subject for Redlock {
    type Store = RedlockStore;

    async fn open(&self) -> RedlockStore {
        let servers = self.0.get_or_init(servers::five_redis);
        let store = RedlockStore::new(servers.iter().map(servers::redis_address));
        let store = store.expect("the addresses are right");
        // Two that do so at once agree: whoever comes second finds them made.
        store.create_counters(None).await.expect("the servers are ours");
        store
    }
}

#[derive(Clone)]
struct Postgres(Lazy);

impl Subject for Postgres {
    type Store = PostgresStore;

    async fn open(&self) -> PostgresStore {
        let address = servers::postgres_address(self.0.get());
        PostgresStore::new(&address).expect("the address is right")
    }
}

/// A PostgreSQL server with the table of leases.
fn postgres_with_table() -> Server {
    let server = servers::postgres();
    let address = servers::postgres_address(&server);
    let made = std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
        let store = PostgresStore::new(&address).expect("the address is right");
        runtime.block_on(store.create_table()).expect("the database is ours");
    });
    made.join().expect("the table was made");
    server
}

#[derive(Clone)]
struct Mysql(Lazy);

impl Subject for Mysql {
    type Store = MysqlStore;

    async fn open(&self) -> MysqlStore {
        MysqlStore::new(&servers::mariadb_address(self.0.get())).expect("the address is right")
    }
}

/// A MariaDB server with the table of leases.
fn mariadb_with_table() -> Server {
    let server = servers::mariadb();
    let address = servers::mariadb_address(&server);
    let made = std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
        let store = MysqlStore::new(&address).expect("the address is right");
        runtime.block_on(store.create_table()).expect("the database is ours");
    });
    made.join().expect("the table was made");
    server
}

#[derive(Clone)]
struct Etcd(Lazy);

impl Subject for Etcd {
    type Store = EtcdStore;

    async fn open(&self) -> EtcdStore {
        EtcdStore::new(&servers::etcd_address(self.0.get())).expect("the address is right")
    }
}

/// TTLs that tests can wait for; Consul itself would have 10 seconds at least.
const LEAST_TTL: Duration = Duration::from_secs(1);

fn consul(port: u16) -> ConsulStore {
    let options = ConsulOptions::default().least_ttl(LEAST_TTL);
    ConsulStore::with_options(&format!("http://127.0.0.1:{port}"), options).expect("the address is right")
}

#[derive(Clone)]
struct StandIn(Arc<OnceLock<ConsulStandIn>>);

impl Subject for StandIn {
    type Store = ConsulStore;

    async fn open(&self) -> ConsulStore {
        consul(self.0.get_or_init(|| ConsulStandIn::start(LEAST_TTL)).port())
    }
}

/// A real agent: the one that `CONSUL_HTTP_ADDR` names, or one that is started.
#[derive(Clone)]
struct Consul(Lazy);

impl Subject for Consul {
    type Store = ConsulStore;

    async fn open(&self) -> ConsulStore {
        match std::env::var("CONSUL_HTTP_ADDR") {
            Ok(address) => ConsulStore::new(&address).expect("the address is right"),
            Err(_) => consul(self.0.get().port()),
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut all = trials("memory", Memory(MemoryStore::new()));
    all.extend(trials("sqlite", Sqlite(Arc::new(servers::directory()))));
    all.extend(trials("redis", Redis(Lazy::new(servers::redis))));
    let valkey = trials("valkey", Redis(Lazy::new(servers::valkey)));
    all.extend(valkey.into_iter().map(|trial| trial.with_ignored_flag(!servers::has_valkey())));
    all.extend(trials("redis-cluster", Cluster(Arc::default())));
    all.extend(trials("redlock", Redlock(Arc::default())));
    all.extend(trials("postgres", Postgres(Lazy::new(postgres_with_table))));
    all.extend(trials("mysql", Mysql(Lazy::new(mariadb_with_table))));
    all.extend(trials("etcd", Etcd(Lazy::new(servers::etcd))));
    all.extend(trials("consul-stand-in", StandIn(Arc::default())));
    let consul = trials("consul", Consul(Lazy::new(servers::consul)));
    all.extend(consul.into_iter().map(|trial| trial.with_ignored_flag(!servers::has_consul())));
    if !servers::has_consul() {
        eprintln!("no real Consul: its store is tested against a stand-in only");
    }
    // The servers belong to the tests, and end with the last of them; `exit` would leave them running.
    libtest_mimic::run(&arguments, all).exit_code()
}
