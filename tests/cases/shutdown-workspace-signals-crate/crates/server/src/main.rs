use fred::prelude::*;
use mirror_sync::SyncService;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt::init();
    let redis = Builder::from_config(Config::from_url(&std::env::var("REDIS_URL")?)?).build()?;
    redis.init().await?;
    let regions = std::env::var("REGIONS")?
        .split(',')
        .map(str::to_owned)
        .collect();

    let sync = SyncService::start(redis.clone(), regions);
    let why = quit::asked().await?;
    println!("{why}, stopping");
    sync.stop().await;
    redis.quit().await?;
    Ok(())
}
