//! A job that runs once a minute, in one of however many processes are started: the lease is in Redis, what the
//! job writes is in PostgreSQL, fenced. SIGTERM ends it cleanly at any moment.
//!
//! `cargo run --example cron_singleton --features redis,postgres -- redis://127.0.0.1/ "host=127.0.0.1 user=jobs"`
//! (a third argument sets the seconds between runs)

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use leasehold::fence::FenceError;
use leasehold::fence::postgres::{Claimed, PostgresFence};
use leasehold::store::redis::RedisStore;
use leasehold::{AcquireError, Leases, RunError, Shutdown, Tenure};

const RUNS: &str = "\
CREATE TABLE IF NOT EXISTS report (
    slot BIGINT PRIMARY KEY,
    made_with BIGINT NOT NULL
)";

/// The database's clock decides which run it is, so all processes agree.
const SLOT: &str = "SELECT (extract(epoch FROM clock_timestamp()) / $1::bigint)::bigint";

const WRITE: &str = "INSERT INTO report (slot, made_with) VALUES ($1, $2) ON CONFLICT (slot) DO NOTHING";

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(redis), Some(postgres)) = (arguments.next(), arguments.next()) else {
        return Err("usage: cron_singleton REDIS-ADDRESS POSTGRES-ADDRESS [SECONDS]".into());
    };
    let every: i64 = arguments.next().map_or(Ok(60), |seconds| seconds.parse())?;

    let shutdown = Shutdown::on_signals()?;
    let leases = Leases::builder(RedisStore::new(redis)?)
        .ttl(Duration::from_secs(5))
        .cancel_on(shutdown.token())
        .build()?;
    let fence = PostgresFence::new(&postgres)?;
    fence.create_table().await?;

    // Whoever has the lease makes the reports; the others wait for it.
    while !shutdown.token().is_cancelled() {
        let ended = leases.run("reports", |tenure| make_reports(&fence, tenure, every)).await;
        match ended {
            Ok(()) | Err(RunError::Lost(_) | RunError::Acquire(AcquireError::ShuttingDown { .. })) => {}
            Err(error) => {
                eprintln!("{error}");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }
    Ok(shutdown.exit_code(&[&leases], Duration::from_secs(10)).await)
}

async fn make_reports(fence: &PostgresFence, tenure: Tenure, every: i64) -> Result<(), FenceError<String>> {
    let claimed = fence.claim(&tenure, "reports").await.map_err(FenceError::widen)?;
    loop {
        make_report(&claimed, every).await?;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

async fn make_report(claimed: &Claimed, every: i64) -> Result<(), FenceError<String>> {
    let made = claimed.transaction(async |tx| {
        tx.execute(RUNS, &[]).await?;
        let slot: i64 = tx.query_one(SLOT, &[&every]).await?.get(0);
        let token = tx.token().as_i64();
        let new = tx.execute(WRITE, &[&slot, &token]).await?;
        Ok::<_, tokio_postgres::Error>((new == 1).then_some((slot, token)))
    });
    let made = made.await.map_err(|error| match error {
        FenceError::Work(error) => FenceError::Work(error.to_string()),
        FenceError::Lost(lost) => FenceError::Lost(lost),
        FenceError::Stale(stale) => FenceError::Stale(stale),
        other => FenceError::Work(other.to_string()),
    })?;
    if let Some((slot, token)) = made {
        println!("report {slot} made with token {token}");
    }
    Ok(())
}
