//! A real Redis Cluster: its nodes hand leases and counters to each other together, and a replica that takes over goes
//! on with both.

mod support;

use std::process::Command;
use std::time::{Duration, Instant};

use leasehold::store::redis::RedisStore;
use leasehold::store::{Acquisition, Claim};
use leasehold::{FencingToken, LeaseKey, LeaseStore, Leases, OwnerValue, StoreError};
use support::servers::{self, Server};
use tokio::task::block_in_place;
use tokio::time::sleep;

const TTL: Duration = Duration::from_secs(12);

fn store(nodes: &[Server]) -> RedisStore {
    RedisStore::cluster(nodes.iter().map(servers::redis_address), "leasehold")
        .expect("the addresses are right")
}

fn claim(key: &str) -> Claim {
    let owner = OwnerValue::fresh().expect("there is randomness");
    Claim { key: LeaseKey::new(key).expect("it is short"), owner, ttl: TTL }
}

/// The names under which a node keeps leases and counters.
fn kept(node: &Server) -> Vec<String> {
    servers::tell_redis(node, &["KEYS", "*"]).lines().map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leases_and_counters_move_together() {
    let nodes = block_in_place(|| servers::redis_cluster(false));
    let leases = Leases::builder(store(&nodes)).ttl(TTL).build().expect("the settings are right");
    let mut held = Vec::new();
    for number in 0..60 {
        held.push(leases.acquire(format!("lease {number}")).await.expect("it is free"));
    }
    for node in &nodes {
        let names = kept(node);
        assert!(!names.is_empty(), "60 leases are not on all three nodes");
        for name in names.iter().filter(|name| name.contains(":lease:")) {
            let counter = format!("{}:token", name.split(":lease:").next().expect("it is before"));
            assert!(names.contains(&counter), "{name} is without its counter");
        }
    }
    // All that the first node has goes to the second, while the leases are renewed.
    let id = |node: &Server| servers::tell_redis(node, &["CLUSTER", "MYID"]);
    let moved = block_in_place(|| {
        let mut command = Command::new("redis-cli");
        command.args(["--cluster", "reshard", &format!("127.0.0.1:{}", nodes[0].port())]);
        command.args(["--cluster-from", &id(&nodes[0]), "--cluster-to", &id(&nodes[1])]);
        command.args(["--cluster-slots", "5461", "--cluster-yes"]).output().expect("it was started before")
    });
    assert!(moved.status.success(), "{}", String::from_utf8_lossy(&moved.stdout));
    assert_eq!(kept(&nodes[0]), Vec::<String>::new(), "{}", String::from_utf8_lossy(&moved.stdout));
    sleep(TTL).await;
    for lease in held {
        lease.check().expect("it was renewed, wherever it was");
        let (key, token) = (lease.key().clone(), lease.token());
        assert!(lease.release().await.is_released(), "{key}");
        let again = leases.try_acquire(&key).await.expect("it is free");
        assert!(again.token() > token, "{key}: {} after {token}", again.token());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_that_takes_over_goes_on() {
    let mut nodes = block_in_place(|| servers::redis_cluster(true));
    let store = store(&nodes);
    let mut tokens = Vec::new();
    for number in 0..30 {
        tokens.push(pass(&store, &format!("lease {number}")).await);
    }
    // What a node has answered is on its replica a moment later.
    sleep(Duration::from_secs(1)).await;
    let fallen = nodes.iter().position(|node| servers::tell_redis(node, &["ROLE"]).starts_with("master"));
    let fallen = fallen.expect("three of them are");
    nodes[fallen].crash();
    for (number, before) in tokens.iter().enumerate() {
        let after = pass(&store, &format!("lease {number}")).await;
        assert!(after > *before, "lease {number}: {after} after {before}");
    }
}

/// Takes the key as soon as it can be had, and gives it back.
async fn pass(store: &RedisStore, key: &str) -> FencingToken {
    let began = Instant::now();
    loop {
        let claim = claim(key);
        let asked = tokio::time::timeout(TTL / 6, store.acquire(&claim)).await;
        match asked {
            Ok(Ok(Acquisition::Granted(grant))) => {
                // May fail while the cluster finds itself; then the TTL does it.
                let _freed = tokio::time::timeout(TTL / 6, store.release(&claim)).await;
                return grant.token;
            }
            Err(_) => store.reset(),
            Ok(_) => {}
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{key}: {asked:?}");
        sleep(Duration::from_millis(50)).await;
    }
}

/// A program that is told of one node only would reach a third of its leases.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_for_one_server_says_that_it_is_a_cluster() {
    let nodes = block_in_place(|| servers::redis_cluster(false));
    let one = RedisStore::new(servers::redis_address(&nodes[0])).expect("the address is right");
    let mut moved = 0;
    for number in 0..20 {
        let Err(error) = one.acquire(&claim(&format!("lease {number}"))).await else { continue };
        assert!(matches!(error, StoreError::Refused { .. }), "{error}");
        assert!(error.to_string().contains("RedisStore::cluster"), "{error}");
        moved += 1;
    }
    assert!(moved > 0, "all are on one node");
    let error = RedisStore::cluster(["nonsense"], "leasehold").expect_err("it is no address");
    assert!(error.to_string().contains("write it as"), "{error}");
    let none: [&str; 0] = [];
    assert!(RedisStore::cluster(none, "leasehold").is_err());
}
