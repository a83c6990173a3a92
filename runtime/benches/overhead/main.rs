//! What leasehold costs beside the bare clients: the same commands sent by hand, by a store, and by `Leases` with its
//! background task, in turns and in one process, so that whatever else the machine does strikes all alike. Starts its
//! own servers on the loopback address. `cargo bench -p leasehold --all-features`.
//!
//! With words behind `--`, only what is named after one of them: `-- redis transactions`.
//!
//! Read the ratios; the times are the machine's. A disk that others use too makes even the ratios swing; with
//! `TMPDIR=/dev/shm` all data are in memory, and what is left is what the processors do. Round trips, which decide in a network, are held by
//! `tests/round_trips.rs`.

#[allow(dead_code, reason = "they are for the tests, too")]
#[path = "../../tests/support/servers.rs"]
mod servers;

#[allow(dead_code, reason = "they are for the tests, too")]
#[path = "../../tests/support/proxy.rs"]
mod proxy;

mod bystander;
mod fenced;
mod handover;
mod pairs;
mod plain;
mod plain_etcd;
mod plain_transaction;
mod samples;

use std::time::Duration;

use leasehold::Leases;
use leasehold::store::etcd::EtcdStore;
use leasehold::store::memory::MemoryStore;
use leasehold::store::mysql::MysqlStore;
use leasehold::store::postgres::PostgresStore;
use leasehold::store::redis::RedisStore;
use leasehold::store::sqlite::SqliteStore;

use plain::Plain;
use plain_etcd::PlainEtcd;
use plain_transaction::PlainTransaction;

/// For what takes microseconds, and for what waits for a disk.
const MANY: usize = 6000;
const FEW: usize = 1200;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime starts");
    let (redis, postgres, mariadb) = (servers::redis(), servers::postgres(), servers::mariadb());
    let etcd = servers::etcd();
    let directory = servers::directory();
    let file = directory.path().join("bench.db");
    runtime.block_on(async {
        let redis_store = RedisStore::new(servers::redis_address(&redis)).expect("the address is right");
        let address = servers::postgres_address(&postgres);
        let postgres_store = PostgresStore::new(&address).expect("the address is right");
        let mysql_address = servers::mariadb_address(&mariadb);
        let mysql_store = MysqlStore::new(&mysql_address).expect("the address is right");
        let etcd_address = servers::etcd_address(&etcd);
        let etcd_store = || EtcdStore::new(&etcd_address).expect("the address is right");
        let sqlite_store = SqliteStore::open(&file).expect("the directory is ours");
        postgres_store.create_table().await.expect("the database is ours");
        mysql_store.create_table().await.expect("the database is ours");

        pairs::heading();
        if wanted("memory") {
            pairs::measure("memory", MemoryStore::new(), None, MANY).await;
        }
        if wanted("redis") {
            let plain = Plain::redis(&servers::redis_address(&redis)).await;
            pairs::measure("redis", redis_store.clone(), Some(plain), MANY).await;
        }
        if wanted("sqlite") {
            pairs::measure("sqlite", sqlite_store, Some(Plain::sqlite(&file)), FEW).await;
        }
        if wanted("postgres") {
            let plain = Plain::postgres(&address).await;
            pairs::measure("postgres", postgres_store.clone(), Some(plain), FEW).await;
        }
        if wanted("mariadb") {
            let plain = Plain::mysql(&mysql_address).await;
            pairs::measure("mariadb", mysql_store.clone(), Some(plain), FEW).await;
        }
        if wanted("etcd") {
            let plain = Plain::Etcd(PlainEtcd::new(&etcd_address));
            pairs::measure("etcd", etcd_store(), Some(plain), FEW).await;
        }
        if wanted("transactions") {
            fenced::heading();
            fenced::sqlite(&file, PlainTransaction::sqlite(&file), FEW).await;
            fenced::postgres(&address, PlainTransaction::postgres(&address).await, FEW).await;
            fenced::mysql(&mysql_address, PlainTransaction::mysql(&mysql_address).await, FEW).await;
        }
        if wanted("handover") {
            handover::heading();
            handover::measure("redis", || redis_store.clone()).await;
            handover::measure("postgres", || postgres_store.clone()).await;
            handover::measure("etcd", etcd_store).await;
            handover::measure("mariadb", || mysql_store.clone()).await;
        }
        if wanted("many") {
            bystander::heading();
            const RIGHT: &str = "the address is right";
            let at_redis = servers::redis_address(&redis);
            bystander::measure("redis", &redis, &at_redis, |at| RedisStore::new(at).expect(RIGHT)).await;
            bystander::measure("postgres", &postgres, &address, |at| PostgresStore::new(at).expect(RIGHT))
                .await;
            bystander::measure("mariadb", &mariadb, &mysql_address, |at| MysqlStore::new(at).expect(RIGHT))
                .await;
            bystander::measure("etcd", &etcd, &etcd_address, |at| EtcdStore::new(at).expect(RIGHT)).await;
        }
    });
}

/// Whether this part was asked for, or nothing was.
fn wanted(part: &str) -> bool {
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with("--")).peekable();
    words.peek().is_none() || words.any(|word| word == part)
}

fn leases(store: impl leasehold::LeaseStore) -> Leases {
    Leases::builder(store).ttl(Duration::from_secs(6)).build().expect("the settings are right")
}
