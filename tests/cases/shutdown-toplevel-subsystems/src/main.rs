mod lease;
mod transmit;

use std::time::Duration;

use miette::{IntoDiagnostic, Result};
use tokio_graceful_shutdown::{SubsystemBuilder, SubsystemHandle, Toplevel};

#[tokio::main]
async fn main() -> Result<()> {
    tracing_subscriber::fmt::init();
    let nats = async_nats::connect("nats.internal")
        .await
        .into_diagnostic()?;
    let js = async_nats::jetstream::new(nats);
    let leases = js
        .create_key_value(lease::bucket())
        .await
        .into_diagnostic()?;

    Toplevel::new(async move |s: &mut SubsystemHandle| {
        s.start(SubsystemBuilder::new(
            "beacon",
            async move |s: &mut SubsystemHandle| run(leases, s).await,
        ));
    })
    .catch_signals()
    .handle_shutdown_requests(Duration::from_secs(15))
    .await
    .into_diagnostic()
}

async fn run(leases: async_nats::jetstream::kv::Store, s: &mut SubsystemHandle) -> Result<()> {
    while !s.is_shutdown_requested() {
        if let Some(mut lease) = lease::Lease::take(&leases, "transmitter")
            .await
            .into_diagnostic()?
        {
            tokio::select! {
                r = transmit::forever() => tracing::warn!(ended = ?r, "transmitter"),
                why = lease.keep() => tracing::warn!(why, "off the air"),
                _ = s.on_shutdown_requested() => tracing::info!("signing off"),
            }
            if let Err(e) = lease.release().await {
                tracing::warn!("release: {e}");
            }
        }
        tokio::select! {
            _ = tokio::time::sleep(Duration::from_secs(3)) => {}
            _ = s.on_shutdown_requested() => {}
        }
    }
    Ok(())
}
