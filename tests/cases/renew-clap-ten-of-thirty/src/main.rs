mod lock;

use std::time::Duration;

use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use lock::Lock;

#[derive(Parser, Debug, Clone)]
#[command(version, about = "Copies prices from the ERP into the shop")]
struct Args {
    #[arg(long, env = "REDIS_URL", default_value = "redis://127.0.0.1/")]
    redis_url: String,

    /// How long the lock outlives a dead process.
    #[arg(long, env = "LOCK_TTL_SECS", default_value_t = 30)]
    lock_ttl_secs: u64,

    #[arg(long, env = "LOCK_HEARTBEAT_SECS", default_value_t = 10)]
    lock_heartbeat_secs: u64,

    #[arg(long, env = "ERP_URL")]
    erp_url: String,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt::init();
    let args = Args::parse();
    let redis = redis::Client::open(args.redis_url.as_str())?
        .get_connection_manager()
        .await?;

    let quit = CancellationToken::new();
    let on_signal = quit.clone();
    let mut term = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
        on_signal.cancel();
    });

    while !quit.is_cancelled() {
        if let Some(lock) = Lock::take(redis.clone(), args.lock_ttl_secs).await? {
            let lost = CancellationToken::new();
            let beat = tokio::spawn(heartbeat(lock.clone(), args.clone(), lost.clone()));
            let r = tokio::select! {
                r = sync_prices(&args.erp_url) => r,
                _ = lost.cancelled() => Err(anyhow::anyhow!("price lock lost")),
                _ = quit.cancelled() => Ok(()),
            };
            beat.abort();
            let _ = beat.await;
            if !lock.release().await? {
                tracing::warn!("price lock had another owner");
            }
            if let Err(e) = r {
                tracing::error!("sync: {e:#}");
            }
        }
        tokio::select! {
            _ = tokio::time::sleep(Duration::from_secs(60)) => {}
            _ = quit.cancelled() => {}
        }
    }
    Ok(())
}

async fn heartbeat(lock: Lock, args: Args, lost: CancellationToken) {
    let mut tick = tokio::time::interval(Duration::from_secs(args.lock_heartbeat_secs));
    let mut failed = false;
    loop {
        tick.tick().await;
        match lock.extend().await {
            Ok(true) => failed = false,
            Ok(false) => return lost.cancel(),
            Err(e) => {
                tracing::warn!("extend: {e:#}");
                if failed {
                    return lost.cancel();
                }
                failed = true;
            }
        }
    }
}

async fn sync_prices(erp: &str) -> anyhow::Result<()> {
    let csv = reqwest::get(format!("{erp}/prices.csv"))
        .await?
        .error_for_status()?
        .text()
        .await?;
    reqwest::Client::new()
        .put("http://shop.internal/prices")
        .body(csv)
        .send()
        .await?
        .error_for_status()?;
    Ok(())
}
