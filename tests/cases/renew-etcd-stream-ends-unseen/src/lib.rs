//! Moves shards off nodes that are being drained. At most one mover per cluster.

use std::time::Duration;

use anyhow::Result;
use etcd_client::{Client, Compare, CompareOp, PutOptions, Txn, TxnOp};
use tokio::task::JoinHandle;

const MOVER_KEY: &str = "/shards/mover";
const LEASE_TTL: i64 = 15;

pub struct Mover {
    etcd: Client,
    http: reqwest::Client,
    node: String,
}

impl Mover {
    pub fn new(etcd: Client, http: reqwest::Client, node: String) -> Self {
        Self { etcd, http, node }
    }

    pub async fn run_once(&mut self) -> Result<bool> {
        let lease = self.etcd.lease_grant(LEASE_TTL, None).await?.id();
        let put = TxnOp::put(
            MOVER_KEY,
            self.node.as_str(),
            Some(PutOptions::new().with_lease(lease)),
        );
        let txn = Txn::new()
            .when([Compare::create_revision(MOVER_KEY, CompareOp::Equal, 0)])
            .and_then([put]);
        if !self.etcd.txn(txn).await?.succeeded() {
            self.etcd.lease_revoke(lease).await?;
            return Ok(false);
        }

        let keeper = keep_alive(self.etcd.clone(), lease);
        let moved = self.move_shards().await;
        keeper.abort();
        let _ = keeper.await;
        self.etcd.lease_revoke(lease).await?;
        moved?;
        Ok(true)
    }

    async fn move_shards(&self) -> Result<()> {
        let pending: Vec<String> = self
            .http
            .get("http://placement.internal/pending")
            .send()
            .await?
            .error_for_status()?
            .text()
            .await?
            .lines()
            .map(str::to_owned)
            .collect();
        for shard in pending {
            tracing::info!(%shard, "moving");
            self.http
                .post(format!("http://placement.internal/move/{shard}"))
                .timeout(Duration::from_secs(120))
                .send()
                .await?
                .error_for_status()?;
        }
        Ok(())
    }
}

fn keep_alive(mut etcd: Client, lease: i64) -> JoinHandle<()> {
    tokio::spawn(async move {
        let Ok((mut keeper, mut replies)) = etcd.lease_keep_alive(lease).await else {
            return;
        };
        let mut tick = tokio::time::interval(Duration::from_secs(LEASE_TTL as u64 / 3));
        loop {
            tick.tick().await;
            if keeper.keep_alive().await.is_err() {
                break;
            }
            match replies.message().await {
                Ok(Some(r)) => tracing::trace!(ttl = r.ttl(), "kept alive"),
                _ => break,
            }
        }
        tracing::debug!("keep-alive of {lease:x} is over");
    })
}
