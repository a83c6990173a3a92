mod trunk;

use std::env;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tonic::transport::Server;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt::init();
    let consul = env::var("CONSUL_HTTP_ADDR").unwrap_or_else(|_| "http://127.0.0.1:8500".into());
    let trunk_name = env::var("TRUNK")?;

    let cancel = CancellationToken::new();
    tokio::spawn(trunk::serve(consul, trunk_name, cancel.clone()));

    let (_reporter, health) = tonic_health::server::health_reporter();
    Server::builder()
        .add_service(health)
        .serve_with_shutdown("0.0.0.0:50051".parse()?, terminated())
        .await?;

    cancel.cancel();
    Ok(())
}

async fn terminated() {
    let mut term = signal(SignalKind::terminate()).expect("SIGTERM");
    let mut int = signal(SignalKind::interrupt()).expect("SIGINT");
    tokio::select! {
        _ = term.recv() => tracing::info!("SIGTERM"),
        _ = int.recv() => tracing::info!("SIGINT"),
    }
}
