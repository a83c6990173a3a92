use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use etcd_client::{Client, Compare, CompareOp, PutOptions, Txn, TxnOp};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;

const KEY: &str = "quota-reset/master";
const TTL_SECS: i64 = 20;

pub struct Master {
    etcd: Client,
    clock: Arc<dyn Clock>,
    lease_id: i64,
    valid_until: Instant,
    renew_at: Instant,
}

impl Master {
    pub async fn stand(
        mut etcd: Client,
        clock: Arc<dyn Clock>,
        node: &str,
    ) -> Result<Option<Self>> {
        let asked = clock.now();
        let lease_id = etcd.lease_grant(TTL_SECS, None).await?.id();
        let won = etcd
            .txn(
                Txn::new()
                    .when([Compare::version(KEY, CompareOp::Equal, 0)])
                    .and_then([TxnOp::put(
                        KEY,
                        node,
                        Some(PutOptions::new().with_lease(lease_id)),
                    )]),
            )
            .await?
            .succeeded();
        if !won {
            etcd.lease_revoke(lease_id).await?;
            return Ok(None);
        }
        let mut this = Self {
            etcd,
            clock,
            lease_id,
            valid_until: asked,
            renew_at: asked,
        };
        this.reckon(asked);
        Ok(Some(this))
    }

    fn reckon(&mut self, asked: Instant) {
        self.valid_until = asked + Duration::from_secs(TTL_SECS as u64 - 1);
        self.renew_at = asked + Duration::from_secs(TTL_SECS as u64 / 4);
    }

    /// Comes back with an error once the mastership is over.
    pub async fn hold(&mut self, quit: CancellationToken) -> Result<()> {
        let (mut keeper, mut replies) = self.etcd.lease_keep_alive(self.lease_id).await?;
        while !quit.is_cancelled() {
            tokio::time::sleep(Duration::from_millis(250)).await;
            let now = self.clock.now();
            if now >= self.valid_until {
                bail!("mastership ran out");
            }
            if now < self.renew_at {
                continue;
            }
            let asked = now;
            keeper.keep_alive().await?;
            match tokio::time::timeout(Duration::from_secs(3), replies.message()).await {
                Ok(Ok(Some(r))) if r.ttl() > 0 => self.reckon(asked),
                Ok(Ok(_)) => bail!("etcd has forgotten the lease"),
                Ok(Err(e)) => bail!("keep-alive: {e}"),
                Err(_) => bail!("keep-alive: no answer"),
            }
        }
        Ok(())
    }

    pub async fn resign(mut self) -> Result<()> {
        self.etcd.lease_revoke(self.lease_id).await?;
        Ok(())
    }
}
