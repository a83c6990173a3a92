use std::time::Duration;

use anyhow::{bail, Context};
use etcd_client::{
    Client, Compare, CompareOp, LeaseKeepAliveStream, LeaseKeeper, PutOptions, Txn, TxnOp,
};
use tokio::time::timeout;
use uuid::Uuid;

use crate::config::CaptainConfig;

pub struct Captain {
    client: Client,
    cfg: CaptainConfig,
    id: Uuid,
}

/// Held as long as `tick` succeeds.
pub struct Office {
    keeper: LeaseKeeper,
    answers: LeaseKeepAliveStream,
    pub revision: i64,
}

impl Captain {
    pub fn new(client: Client, cfg: CaptainConfig) -> Self {
        Captain {
            client,
            cfg,
            id: Uuid::new_v4(),
        }
    }

    fn election_key(&self) -> String {
        format!("{}/captain/{}", self.cfg.prefix, self.cfg.group)
    }

    pub async fn run_for_office(&mut self) -> anyhow::Result<Option<Office>> {
        let lease = self
            .client
            .lease_grant(self.cfg.lease_secs, None)
            .await
            .context("lease grant")?
            .id();
        let key = self.election_key();
        let txn = Txn::new()
            .when(vec![Compare::create_revision(
                key.as_str(),
                CompareOp::Equal,
                0,
            )])
            .and_then(vec![TxnOp::put(
                key.as_str(),
                self.id.to_string(),
                Some(PutOptions::new().with_lease(lease)),
            )]);
        let reply = self.client.txn(txn).await?;
        if !reply.succeeded() {
            self.client.lease_revoke(lease).await?;
            return Ok(None);
        }
        let revision = reply.header().context("no header")?.revision();
        let (keeper, answers) = self.client.lease_keep_alive(lease).await?;
        Ok(Some(Office {
            keeper,
            answers,
            revision,
        }))
    }

    /// Steps down at once instead of letting the lease run out.
    pub async fn resign(&mut self) -> anyhow::Result<()> {
        self.client.delete(self.election_key(), None).await?;
        tracing::info!(group = %self.cfg.group, "stepped down");
        Ok(())
    }
}

impl Office {
    pub async fn tick(&mut self) -> anyhow::Result<()> {
        timeout(Duration::from_secs(4), async {
            self.keeper.keep_alive().await?;
            match self.answers.message().await? {
                Some(answer) if answer.ttl() > 0 => Ok(()),
                _ => bail!("lease is gone"),
            }
        })
        .await?
    }
}
