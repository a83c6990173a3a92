//! What the suite is run over: a store of leases with a protected database, their servers with a proxy before each,
//! and the faults that can strike there. A subject is added by a function and a line in `ALL`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use leasehold::fence::mysql::MysqlFence;
use leasehold::fence::postgres::PostgresFence;
use leasehold::store::mysql::MysqlStore;
use leasehold::store::postgres::PostgresStore;
use leasehold::store::redlock::RedlockStore;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::database::Database;
use crate::faketime;
use crate::nemesis::Kind;
use crate::stores::CONSUL_LEAST_TTL;
use crate::support::consul_stand_in::ConsulStandIn;
use crate::support::proxy::Proxy;
use crate::support::servers::{self, Server};

pub struct Subject {
    pub name: &'static str,
    pub open: fn() -> Arena,
    pub ttl: Duration,
    pub faults: &'static [Kind],
}

pub const ALL: &[Subject] = &[
    Subject {
        name: "sqlite",
        open: sqlite,
        ttl: SECOND,
        faults: &[Kind::Freeze, Kind::Kill, Kind::Terminate, Kind::WorkerClock, Kind::LockFile],
    },
    Subject {
        name: "postgres",
        open: postgres,
        ttl: SECOND,
        faults: &[
            Kind::Freeze,
            Kind::Kill,
            Kind::Terminate,
            Kind::WorkerClock,
            Kind::ServerClock,
            Kind::CrashLedger,
            Kind::LoseLeases,
            Kind::EndSessions,
            Kind::Cut,
            Kind::Delay,
            Kind::HalfOpen,
            Kind::Deaf,
            Kind::Exhaust,
        ],
    },
    Subject {
        name: "redis",
        open: redis_and_postgres,
        ttl: SECOND,
        faults: &[
            Kind::Freeze,
            Kind::Kill,
            Kind::Terminate,
            Kind::WorkerClock,
            Kind::ServerClock,
            Kind::CrashLedger,
            Kind::CrashLeases,
            Kind::LoseLeases,
            Kind::EndSessions,
            Kind::Cut,
            Kind::Delay,
            Kind::HalfOpen,
            Kind::Deaf,
            Kind::Exhaust,
        ],
    },
    Subject {
        name: "redlock",
        open: redlock_and_sqlite,
        ttl: SECOND,
        faults: &[
            Kind::Freeze,
            Kind::Kill,
            Kind::Terminate,
            Kind::WorkerClock,
            Kind::ServerClock,
            Kind::CrashLeases,
            Kind::Cut,
            Kind::Delay,
            Kind::HalfOpen,
            Kind::Deaf,
            Kind::LockFile,
        ],
    },
    Subject { name: "mysql", open: mysql_and_postgres, ttl: SECOND, faults: TWO_SERVERS },
    Subject {
        name: "mysql-alone",
        open: mysql_alone,
        ttl: SECOND,
        faults: &[
            Kind::Freeze,
            Kind::Kill,
            Kind::Terminate,
            Kind::WorkerClock,
            Kind::CrashLedger,
            Kind::Cut,
            Kind::Delay,
            Kind::HalfOpen,
            Kind::Deaf,
        ],
    },
    // It counts in seconds, and keeps two at least.
    Subject { name: "etcd", open: etcd_and_postgres, ttl: Duration::from_secs(2), faults: TWO_SERVERS },
    Subject {
        name: "consul-stand-in",
        open: consul_and_sqlite,
        ttl: SECOND,
        faults: &[
            Kind::Freeze,
            Kind::Kill,
            Kind::Terminate,
            Kind::WorkerClock,
            Kind::NoLeader,
            Kind::Cut,
            Kind::Delay,
            Kind::HalfOpen,
            Kind::Deaf,
            Kind::LockFile,
        ],
    },
];

const SECOND: Duration = Duration::from_secs(1);

/// What can befall a server of leases, a PostgreSQL beside it, and the network between.
const TWO_SERVERS: &[Kind] = &[
    Kind::Freeze,
    Kind::Kill,
    Kind::Terminate,
    Kind::WorkerClock,
    Kind::CrashLedger,
    Kind::CrashLeases,
    Kind::EndSessions,
    Kind::Cut,
    Kind::Delay,
    Kind::HalfOpen,
    Kind::Deaf,
    Kind::Exhaust,
];

/// One run's surroundings.
pub struct Arena {
    /// As workers reach them, through the proxies.
    pub store: String,
    pub ledger: String,
    /// As the judge reaches them.
    pub own_store: String,
    pub own_ledger: String,
    pub proxies: Vec<Proxy>,
    /// The servers that keep leases and nothing else.
    pub leases: Vec<Server>,
    /// The server of the protected data.
    pub database: Option<Server>,
    /// Ended with the run.
    pub consul: Option<ConsulStandIn>,
    /// What moves the wall clock of the server that keeps the leases.
    pub server_clock: PathBuf,
    /// Ended after the servers.
    pub runtime: Runtime,
    pub directory: TempDir,
}

fn place() -> (Runtime, TempDir) {
    let directory = servers::directory();
    let open = fs::Permissions::from_mode(0o755);
    // Servers may run as another user.
    fs::set_permissions(directory.path(), open).expect("the directory is ours");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    (runtime.expect("a runtime starts"), directory)
}

fn sqlite() -> Arena {
    let (runtime, directory) = place();
    let file = runtime.block_on(file_in(directory.path()));
    Arena {
        store: file.clone(),
        ledger: file.clone(),
        own_store: file.clone(),
        own_ledger: file,
        proxies: Vec::new(),
        leases: Vec::new(),
        database: None,
        consul: None,
        server_clock: directory.path().join("server-clock"),
        runtime,
        directory,
    }
}

/// Leases and accounts are in one database, each behind a proxy of its own.
fn postgres() -> Arena {
    let (runtime, directory) = place();
    let server_clock = directory.path().join("server-clock");
    let server = servers::postgres_with(&faketime::preload(&server_clock));
    let address = servers::postgres_address(&server);
    let own = format!("postgres={address}");
    let proxies = runtime.block_on(async {
        let store = PostgresStore::new(&address).expect("the address is right");
        store.create_table().await.expect("the database is ours");
        prepare(&address).await;
        vec![Proxy::before(server.port()).await, Proxy::before(server.port()).await]
    });
    Arena {
        store: behind(&own, &server, &proxies[0]),
        ledger: behind(&own, &server, &proxies[1]),
        own_store: own.clone(),
        own_ledger: own,
        proxies,
        leases: Vec::new(),
        database: Some(server),
        consul: None,
        server_clock,
        runtime,
        directory,
    }
}

fn redis_and_postgres() -> Arena {
    let (runtime, directory) = place();
    let server_clock = directory.path().join("server-clock");
    let each_write = ["--appendonly", "yes", "--appendfsync", "always"];
    let redis = servers::redis_with(&each_write, &faketime::own_preload(directory.path(), &server_clock));
    let server = servers::postgres();
    let own_store = format!("redis={}", servers::redis_address(&redis));
    let own_ledger = format!("postgres={}", servers::postgres_address(&server));
    let proxies = runtime.block_on(async {
        prepare(&servers::postgres_address(&server)).await;
        vec![Proxy::before(redis.port()).await, Proxy::before(server.port()).await]
    });
    Arena {
        store: behind(&own_store, &redis, &proxies[0]),
        ledger: behind(&own_ledger, &server, &proxies[1]),
        own_store,
        own_ledger,
        proxies,
        leases: vec![redis],
        database: Some(server),
        consul: None,
        server_clock,
        runtime,
        directory,
    }
}

/// The accounts in a file, fenced.
async fn file_in(directory: &Path) -> String {
    let path = directory.join("bank.db");
    let file = format!("sqlite={}", path.display());
    drop(leasehold::fence::sqlite::SqliteFence::open(path).expect("the directory is ours"));
    Database::open(&file).await.prepare().await;
    file
}

/// Five servers of leases, whose clocks go wrong together; the accounts are in a file.
fn redlock_and_sqlite() -> Arena {
    let (runtime, directory) = place();
    let server_clock = directory.path().join("server-clock");
    let each_write = ["--appendonly", "yes", "--appendfsync", "always"];
    let clock = faketime::own_preload(directory.path(), &server_clock);
    let leases: Vec<Server> = (0..5).map(|_| servers::redis_with(&each_write, &clock)).collect();
    let addresses: Vec<String> = leases.iter().map(servers::redis_address).collect();
    let own_store = format!("redlock={}", addresses.join(","));
    let (ledger, proxies) = runtime.block_on(async {
        let store = RedlockStore::new(addresses).expect("the addresses are right");
        store.create_counters(None).await.expect("the servers are ours");
        let mut proxies = Vec::new();
        for server in &leases {
            proxies.push(Proxy::before(server.port()).await);
        }
        (file_in(directory.path()).await, proxies)
    });
    let pairs = leases.iter().zip(&proxies);
    let store = pairs.fold(own_store.clone(), |place, (server, proxy)| behind(&place, server, proxy));
    let (own_ledger, database, consul) = (ledger.clone(), None, None);
    Arena {
        store,
        ledger,
        own_store,
        own_ledger,
        proxies,
        leases,
        database,
        consul,
        server_clock,
        runtime,
        directory,
    }
}

/// What stands in for Consul in this process; the accounts are in a file.
fn consul_and_sqlite() -> Arena {
    let (runtime, directory) = place();
    let consul = ConsulStandIn::start(CONSUL_LEAST_TTL);
    let (ledger, proxy) =
        runtime.block_on(async { (file_in(directory.path()).await, Proxy::before(consul.port()).await) });
    let at = |port: u16| format!("consul=http://127.0.0.1:{port}");
    let (store, own_store, own_ledger) = (at(proxy.port()), at(consul.port()), ledger.clone());
    let server_clock = directory.path().join("server-clock");
    let (proxies, leases, database, consul) = (vec![proxy], Vec::new(), None, Some(consul));
    Arena {
        store,
        ledger,
        own_store,
        own_ledger,
        proxies,
        leases,
        database,
        consul,
        server_clock,
        runtime,
        directory,
    }
}

fn mysql_and_postgres() -> Arena {
    let server = servers::mariadb();
    let address = servers::mariadb_address(&server);
    let arena = beside_postgres(server, &format!("mysql={address}"));
    arena.runtime.block_on(async {
        let store = MysqlStore::new(&address).expect("the address is right");
        store.create_table().await.expect("the database is ours");
    });
    arena
}

/// Leases and accounts are in one MariaDB, each behind a proxy of its own.
fn mysql_alone() -> Arena {
    let (runtime, directory) = place();
    let server = servers::mariadb();
    let address = servers::mariadb_address(&server);
    let own = format!("mysql={address}");
    let proxies = runtime.block_on(async {
        let store = MysqlStore::new(&address).expect("the address is right");
        store.create_table().await.expect("the database is ours");
        let fence = MysqlFence::new(&address).expect("the address is right");
        fence.create_table().await.expect("the database is ours");
        Database::open(&own).await.prepare().await;
        vec![Proxy::before(server.port()).await, Proxy::before(server.port()).await]
    });
    Arena {
        store: behind(&own, &server, &proxies[0]),
        ledger: behind(&own, &server, &proxies[1]),
        own_store: own.clone(),
        own_ledger: own,
        proxies,
        leases: Vec::new(),
        database: Some(server),
        consul: None,
        server_clock: directory.path().join("server-clock"),
        runtime,
        directory,
    }
}

fn etcd_and_postgres() -> Arena {
    let server = servers::etcd();
    let place = format!("etcd={}", servers::etcd_address(&server));
    beside_postgres(server, &place)
}

/// Leases in one server, at this place, and accounts in another.
fn beside_postgres(leases: Server, own_store: &str) -> Arena {
    let (runtime, directory) = place();
    let server_clock = directory.path().join("server-clock");
    let server = servers::postgres();
    let own_ledger = format!("postgres={}", servers::postgres_address(&server));
    let proxies = runtime.block_on(async {
        prepare(&servers::postgres_address(&server)).await;
        vec![Proxy::before(leases.port()).await, Proxy::before(server.port()).await]
    });
    Arena {
        store: behind(own_store, &leases, &proxies[0]),
        ledger: behind(&own_ledger, &server, &proxies[1]),
        own_store: own_store.to_owned(),
        own_ledger,
        proxies,
        leases: vec![leases],
        database: Some(server),
        consul: None,
        server_clock,
        runtime,
        directory,
    }
}

async fn prepare(address: &str) {
    let fence = PostgresFence::new(address).expect("the address is right");
    fence.create_table().await.expect("the database is ours");
    Database::open(&format!("postgres={address}")).await.prepare().await;
}

/// The same place, by way of a proxy.
fn behind(place: &str, server: &Server, proxy: &Proxy) -> String {
    place.replace(&server.port().to_string(), &proxy.port().to_string())
}
