//! Several processes, of which one leads, for as long as it can prove it to etcd. Each term has a number that grows;
//! whoever acts on the leader's word can refuse an older one. SIGTERM resigns, and another one leads at once.
//!
//! `cargo run --example leader_election --features etcd -- http://127.0.0.1:2379 NAME`

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use leasehold::store::etcd::EtcdStore;
use leasehold::{AcquireError, Election, LeaseLost, Leases, Shutdown, Tenure};
use tokio::time::sleep;

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(etcd), Some(name)) = (arguments.next(), arguments.next()) else {
        return Err("usage: leader_election ETCD-ADDRESS NAME".into());
    };

    let shutdown = Shutdown::on_signals()?;
    let leases = Leases::builder(EtcdStore::new(&etcd)?)
        .ttl(Duration::from_secs(3))
        .cancel_on(shutdown.token())
        .build()?;
    let election = Election::new(&leases, "example/leader")?;

    while !shutdown.token().is_cancelled() {
        match election.campaign().await {
            Ok(leader) => {
                println!("{name} leads, term {}", leader.token());
                let lost = tokio::select! {
                    lost = leader.cancelled() => lost,
                    lost = lead(&leader) => lost,
                };
                println!("{name} has stopped: {lost}");
                if leader.resign().await.is_released() {
                    println!("{name} has resigned");
                }
            }
            Err(AcquireError::ShuttingDown { .. }) => {}
            Err(error) => {
                eprintln!("{error}");
                sleep(Duration::from_secs(1)).await;
            }
        }
    }
    Ok(shutdown.exit_code(&[&leases], Duration::from_secs(5)).await)
}

/// What the leader does. It is dropped at its next `await` when the term ends; whatever it writes carries
/// `tenure.token()`.
async fn lead(tenure: &Tenure) -> LeaseLost {
    loop {
        // A process that was frozen sees here that its term is over, before any timer has told it.
        if let Err(lost) = tenure.check() {
            return lost;
        }
        sleep(Duration::from_millis(100)).await;
    }
}
