mod scene;

use std::time::Duration;

use apalis::prelude::*;
use apalis_redis::RedisStorage;
use tokio::signal::unix::{SignalKind, signal};

use scene::{RenderScene, render};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt::init();
    let url = std::env::var("REDIS_URL")?;
    let storage: RedisStorage<RenderScene> =
        RedisStorage::new(apalis_redis::connect(url.clone()).await?);
    let locks = redis::Client::open(url)?.get_connection_manager().await?;
    let mut term = signal(SignalKind::terminate())?;

    Monitor::new()
        .register(
            WorkerBuilder::new("renderer")
                .concurrency(2)
                .data(locks)
                .backend(storage)
                .build_fn(render),
        )
        .shutdown_timeout(Duration::from_secs(25))
        .run_with_signal(async move {
            term.recv().await;
            tracing::info!("SIGTERM, finishing the scenes at hand");
            Ok(())
        })
        .await?;
    Ok(())
}
