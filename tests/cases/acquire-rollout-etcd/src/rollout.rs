use anyhow::Context;
use etcd_client::{Client, Compare, CompareOp, Txn, TxnOp};
use serde::Serialize;
use uuid::Uuid;

const ROLLOUT_LOCK: &str = "/rollout/lock";

#[derive(Serialize)]
pub struct Plan {
    pub version: String,
    pub percent: u8,
}

pub struct Rollout {
    client: Client,
    run: Uuid,
}

impl Rollout {
    pub fn new(client: Client) -> Self {
        Rollout {
            client,
            run: Uuid::new_v4(),
        }
    }

    async fn lock(&mut self) -> anyhow::Result<Option<i64>> {
        let free = Compare::create_revision(ROLLOUT_LOCK, CompareOp::Equal, 0);
        let txn = Txn::new().when([free]).and_then([TxnOp::put(
            ROLLOUT_LOCK,
            self.run.to_string(),
            None,
        )]);
        let reply = self.client.txn(txn).await.context("lock")?;
        if !reply.succeeded() {
            return Ok(None);
        }
        let revision = reply.header().context("reply without header")?.revision();
        Ok(Some(revision))
    }

    async fn unlock(&mut self) -> anyhow::Result<bool> {
        let ours = Compare::value(ROLLOUT_LOCK, CompareOp::Equal, self.run.to_string());
        let txn = Txn::new()
            .when([ours])
            .and_then([TxnOp::delete(ROLLOUT_LOCK, None)]);
        Ok(self.client.txn(txn).await.context("unlock")?.succeeded())
    }

    /// Puts the plan in force; nobody else rolls out meanwhile.
    pub async fn apply(mut self, plan: &Plan) -> anyhow::Result<bool> {
        let Some(revision) = self.lock().await? else {
            tracing::info!("another rollout is under way");
            return Ok(false);
        };
        let applied = self.put_plan(plan, revision).await;
        if !self.unlock().await? {
            tracing::warn!(run = %self.run, "the lock was not ours any more");
        }
        applied
    }

    async fn put_plan(&mut self, plan: &Plan, revision: i64) -> anyhow::Result<bool> {
        let body = serde_json::to_vec(plan)?;
        let still_locked = Compare::create_revision(ROLLOUT_LOCK, CompareOp::Equal, revision);
        let txn =
            Txn::new()
                .when([still_locked])
                .and_then([TxnOp::put("/rollout/plan", body, None)]);
        Ok(self.client.txn(txn).await?.succeeded())
    }
}
