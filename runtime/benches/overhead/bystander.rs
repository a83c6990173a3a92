//! What it costs to keep a thousand leases that nobody touches: one task, and one connection or a few, for all of
//! them.

use std::time::{Duration, Instant};

use leasehold::LeaseStore;

use crate::proxy::Proxy;
use crate::servers::Server;

const LEASES: usize = 1000;

pub fn heading() {
    println!("\n{LEASES} leases of one process, renewed every 2 seconds for 12");
    println!(
        "{:<28} {:>16} {:>18} {:>12} {:>12}",
        "store", "of a processor", "a renewal (µs)", "tasks more", "connections"
    );
}

/// The store goes by way of a proxy, which counts its connections.
pub async fn measure<S: LeaseStore>(
    name: &str,
    server: &Server,
    address: &str,
    open: impl FnOnce(&str) -> S,
) {
    let proxy = Proxy::before(server.port()).await;
    let by_proxy = address.replace(&server.port().to_string(), &proxy.port().to_string());
    let metrics = tokio::runtime::Handle::current().metrics();
    let leases = crate::leases(open(&by_proxy));
    let first = leases.try_acquire("first").await.expect("it is free");
    let tasks = metrics.num_alive_tasks();
    let mut held = Vec::new();
    for number in 0..LEASES {
        // A disk that others use too may take longer than an attempt has; that is not what is measured.
        let lease = loop {
            if let Ok(lease) = leases.acquire(format!("lease {number}")).await {
                break lease;
            }
        };
        held.push(lease);
    }
    let (before, began) = (processor_time(), Instant::now());
    tokio::time::sleep(leases.settings().ttl() * 2).await;
    let (used, took) = (processor_time() - before, began.elapsed());
    for lease in held.iter().chain([&first]) {
        lease.check().expect("it is renewed");
    }
    let more = metrics.num_alive_tasks().saturating_sub(tasks);
    let renewals = took.as_secs_f64() / leases.settings().renew_every().as_secs_f64() * LEASES as f64;
    println!(
        "{name:<28} {:>14.1} % {:>18.1} {more:>12} {:>12}",
        used.as_secs_f64() / took.as_secs_f64() * 100.0,
        used.as_secs_f64() * 1e6 / renewals,
        proxy.most_connections()
    );
    drop((held, first));
    leases.close(Duration::from_secs(30)).await.expect("all are given back");
}

/// What this process has used of the processor so far; the proxy is in it, too.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").expect("Linux has it");
    let after_name = text.rsplit(')').next().unwrap_or_default();
    // User and system time are the 14th and 15th field; in hundredths of a second, on every Linux there is.
    let ticks = after_name.split_whitespace().skip(11).take(2).map(|field| field.parse::<u64>().unwrap_or(0));
    Duration::from_millis(ticks.sum::<u64>() * 10)
}
