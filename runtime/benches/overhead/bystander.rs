//! What it costs to keep a thousand leases that nobody touches: one task and one connection for all of them.

use std::time::{Duration, Instant};

use leasehold::Leases;

const LEASES: usize = 1000;

pub async fn measure(leases: Leases, redis: &str) {
    let acquired = (0..LEASES).map(|number| leases.try_acquire(format!("lease {number}")));
    let held = futures_util::future::try_join_all(acquired).await.expect("all are free");
    let (before, began) = (processor_time(), Instant::now());
    tokio::time::sleep(leases.settings().ttl() * 2).await;
    let (used, took) = (processor_time() - before, began.elapsed());
    for lease in &held {
        lease.check().expect("it is renewed");
    }
    let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let client = redis::Client::open(redis).expect("the address is right");
    let mut connection = client.get_multiplexed_async_connection().await.expect("it is up");
    let asked = redis::cmd("CLIENT").arg("LIST").query_async(&mut connection).await;
    let list: String = asked.expect("it answers");
    let renewals = took.as_secs_f64() / leases.settings().renew_every().as_secs_f64() * LEASES as f64;
    println!(
        "\n{LEASES} leases in redis, renewed for {:.0?}: {:.1} % of one processor, {:.0} microseconds a renewal, \
         {tasks} tasks, {} connections",
        took,
        used.as_secs_f64() / took.as_secs_f64() * 100.0,
        used.as_secs_f64() * 1e6 / renewals,
        list.lines().count() - 1
    );
    drop(held);
    leases.close(Duration::from_secs(10)).await.expect("all are given back");
}

/// What this process has used of the processor so far.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").expect("Linux has it");
    let after_name = text.rsplit(')').next().unwrap_or_default();
    // User and system time are the 14th and 15th field; in hundredths of a second, on every Linux there is.
    let ticks = after_name.split_whitespace().skip(11).take(2).map(|field| field.parse::<u64>().unwrap_or(0));
    Duration::from_millis(ticks.sum::<u64>() * 10)
}
