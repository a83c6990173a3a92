use std::time::Duration;

use anyhow::{Result, anyhow};
use etcd_client::{Client, Compare, CompareOp, PutOptions, Txn, TxnOp};
use sqlx::MySqlPool;
use tokio::time::{Instant, timeout_at};

/// Seconds; the archive has to be filed within them, the lease is not renewed.
const TTL: i64 = 90;

/// Files the log lines of one source.
pub async fn archive(
    etcd: &mut Client,
    db: &MySqlPool,
    node: &str,
    source: &str,
    lines: &[String],
) -> Result<bool> {
    let key = format!("/archive/{source}");
    let deadline = Instant::now() + Duration::from_secs(TTL as u64 - 5);
    let lease = etcd.lease_grant(TTL, None).await?.id();
    let txn = Txn::new()
        .when([Compare::create_revision(key.as_str(), CompareOp::Equal, 0)])
        .and_then([TxnOp::put(
            key.as_str(),
            node,
            Some(PutOptions::new().with_lease(lease)),
        )]);
    let won = etcd.txn(txn).await.map(|r| r.succeeded());

    let filed = match won {
        Ok(true) => match timeout_at(deadline, file_lines(db, source, lines)).await {
            Ok(r) => r.map(|()| true),
            Err(_) => Err(anyhow!("{source}: not filed within the lease")),
        },
        Ok(false) => Ok(false),
        Err(e) => Err(e.into()),
    };

    etcd.lease_revoke(lease).await?;
    filed
}

async fn file_lines(db: &MySqlPool, source: &str, lines: &[String]) -> Result<()> {
    let mut tx = db.begin().await?;
    for chunk in lines.chunks(500) {
        for line in chunk {
            sqlx::query("INSERT INTO archive_entry (source, line) VALUES (?, ?)")
                .bind(source)
                .bind(line)
                .execute(&mut *tx)
                .await?;
        }
        tracing::debug!(source, n = chunk.len(), "filed");
    }
    tx.commit().await?;
    Ok(())
}
