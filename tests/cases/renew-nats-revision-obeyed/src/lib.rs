//! One assigner distributes cameras over the recording nodes.
use std::time::Duration;

use anyhow::Result;
use async_nats::jetstream::{self, kv};
use tokio_util::sync::CancellationToken;

mod assign;

/// Entries of the bucket vanish after this age.
const MAX_AGE: Duration = Duration::from_secs(30);
const RENEW: Duration = Duration::from_secs(10);
const ENTRY: &str = "assigner";

pub async fn bucket(js: &jetstream::Context) -> Result<kv::Store> {
    Ok(js
        .create_key_value(kv::Config {
            bucket: "leases".into(),
            max_age: MAX_AGE,
            history: 1,
            ..Default::default()
        })
        .await?)
}

/// `node` is what an operator sees in the entry; the server goes by the revision.
pub async fn run(
    js: jetstream::Context,
    node: &'static str,
    shutdown: CancellationToken,
) -> Result<()> {
    let store = bucket(&js).await?;
    loop {
        match store.create(ENTRY, node.into()).await {
            Ok(revision) => lead(&store, node, revision, &shutdown).await?,
            Err(e) => tracing::debug!("not the assigner: {e}"),
        }
        tokio::select! {
            _ = shutdown.cancelled() => return Ok(()),
            _ = tokio::time::sleep(RENEW) => {}
        }
    }
}

async fn lead(
    store: &kv::Store,
    node: &'static str,
    revision: u64,
    shutdown: &CancellationToken,
) -> Result<()> {
    let stop = CancellationToken::new();
    let lost = CancellationToken::new();
    let renewal = tokio::spawn(renew(
        store.clone(),
        node,
        revision,
        stop.clone(),
        lost.clone(),
    ));
    let done = tokio::select! {
        r = assign::until_drained() => r,
        _ = shutdown.cancelled() => Ok(()),
        _ = lost.cancelled() => {
            tracing::warn!("another assigner is about to start");
            Ok(())
        }
    };
    stop.cancel();
    let last = renewal.await?;
    // Refused by the server when the entry is no longer ours.
    if let Err(e) = store.delete_expect_revision(ENTRY, Some(last)).await {
        tracing::warn!("entry was not removed: {e}");
    }
    done
}

/// Returns the revision of the last renewal.
async fn renew(
    store: kv::Store,
    node: &'static str,
    mut revision: u64,
    stop: CancellationToken,
    lost: CancellationToken,
) -> u64 {
    let mut errors = 0;
    loop {
        tokio::select! {
            _ = stop.cancelled() => return revision,
            _ = tokio::time::sleep(RENEW) => {}
        }
        match store.update(ENTRY, node.into(), revision).await {
            Ok(next) => {
                revision = next;
                errors = 0;
            }
            Err(e) if e.kind() == kv::UpdateErrorKind::WrongLastRevision || errors == 1 => {
                tracing::warn!("lease lost: {e}");
                lost.cancel();
                return revision;
            }
            Err(e) => {
                tracing::warn!("renewal: {e}");
                errors += 1;
            }
        }
    }
}
