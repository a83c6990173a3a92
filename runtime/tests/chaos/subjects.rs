//! What the suite is run over: a store of leases with a protected database, their servers with a proxy before each,
//! and the faults that can strike there. A subject is added by a function and a line in `ALL`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use leasehold::fence::postgres::PostgresFence;
use leasehold::store::postgres::PostgresStore;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::database::Database;
use crate::faketime;
use crate::nemesis::Kind;
use crate::support::proxy::Proxy;
use crate::support::servers::{self, Server};

pub struct Subject {
    pub name: &'static str,
    pub open: fn() -> Arena,
    pub faults: &'static [Kind],
}

pub const ALL: &[Subject] = &[
    Subject {
        name: "sqlite",
        open: sqlite,
        faults: &[Kind::Freeze, Kind::Kill, Kind::Terminate, Kind::WorkerClock, Kind::LockFile],
    },
    Subject {
        name: "postgres",
        open: postgres,
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
    pub redis: Option<Server>,
    pub postgres: Option<Server>,
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
    let file = format!("sqlite={}", directory.path().join("bank.db").display());
    let path = directory.path().join("bank.db");
    drop(leasehold::fence::sqlite::SqliteFence::open(path).expect("the directory is ours"));
    runtime.block_on(async { Database::open(&file).await.prepare().await });
    Arena {
        store: file.clone(),
        ledger: file.clone(),
        own_store: file.clone(),
        own_ledger: file,
        proxies: Vec::new(),
        redis: None,
        postgres: None,
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
        redis: None,
        postgres: Some(server),
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
        redis: Some(redis),
        postgres: Some(server),
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
