use std::time::Duration;

use anyhow::{Result, bail};
use etcd_client::{Client, Compare, CompareOp, PutOptions, Txn, TxnOp};
use tokio_util::sync::CancellationToken;

const KEY: &str = "/inventory/stocktaker";
const TTL: i64 = 60;

pub async fn run(mut etcd: Client, stop: CancellationToken) {
    loop {
        if let Err(e) = term(&mut etcd, &stop).await {
            tracing::warn!("stocktake: {e:#}");
        }
        tokio::select! {
            _ = stop.cancelled() => return,
            _ = tokio::time::sleep(Duration::from_secs(30)) => {}
        }
    }
}

/// One term: take the key, count, give the lease back.
async fn term(etcd: &mut Client, stop: &CancellationToken) -> Result<()> {
    let lease = etcd.lease_grant(TTL, None).await?.id();
    let host = std::env::var("HOSTNAME").unwrap_or_default();
    let txn = Txn::new()
        .when(vec![Compare::create_revision(KEY, CompareOp::Equal, 0)])
        .and_then(vec![TxnOp::put(
            KEY,
            host,
            Some(PutOptions::new().with_lease(lease)),
        )]);
    let won = etcd.txn(txn).await?.succeeded();

    let result = if won {
        tokio::select! {
            r = count() => r,
            r = keep_alive(etcd.clone(), lease) => r,
            _ = stop.cancelled() => Ok(()),
        }
    } else {
        Ok(())
    };
    etcd.lease_revoke(lease).await?;
    result
}

async fn keep_alive(mut etcd: Client, lease: i64) -> Result<()> {
    let (mut keeper, mut stream) = etcd.lease_keep_alive(lease).await?;
    loop {
        tokio::time::sleep(Duration::from_secs(15)).await;
        keeper.keep_alive().await?;
        match stream.message().await? {
            Some(r) if r.ttl() > 0 => {}
            _ => bail!("etcd has dropped the lease"),
        }
    }
}

async fn count() -> Result<()> {
    let http = reqwest::Client::new();
    for shelf in 1..=400u32 {
        http.post(format!("http://scanner.internal/count/{shelf}"))
            .send()
            .await?
            .error_for_status()?;
    }
    Ok(())
}
