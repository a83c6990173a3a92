use anyhow::Result;
use async_nats::jetstream::kv::Store;
use serde::{Deserialize, Serialize};

use crate::time::now_micros;

const VALID_MICROS: i64 = 60_000_000;

#[derive(Serialize, Deserialize)]
struct Entry {
    /// For the dashboard.
    node: String,
    valid_until: i64,
}

/// The revision names this claim for the server.
#[derive(Debug)]
pub struct Claim {
    tenant: String,
    node: String,
    revision: u64,
}

fn entry(node: &str) -> Result<Vec<u8>> {
    Ok(serde_json::to_vec(&Entry {
        node: node.to_owned(),
        valid_until: now_micros() + VALID_MICROS,
    })?)
}

pub async fn claim(kv: &Store, tenant: &str, node: &str) -> Result<Option<Claim>> {
    let body = entry(node)?;
    let revision = match kv.entry(tenant).await? {
        None => kv.create(tenant, body.into()).await.ok(),
        Some(old) => {
            let free = match serde_json::from_slice::<Entry>(&old.value) {
                Ok(e) => e.valid_until < now_micros(),
                Err(_) => true,
            };
            if !free {
                return Ok(None);
            }
            // Fails when another coordinator was faster.
            kv.update(tenant, body.into(), old.revision).await.ok()
        }
    };
    Ok(revision.map(|revision| Claim {
        tenant: tenant.to_owned(),
        node: node.to_owned(),
        revision,
    }))
}

impl Claim {
    /// False: the entry has been changed by somebody else.
    pub async fn renew(&mut self, kv: &Store) -> Result<bool> {
        match kv
            .update(&self.tenant, entry(&self.node)?.into(), self.revision)
            .await
        {
            Ok(next) => {
                self.revision = next;
                Ok(true)
            }
            Err(e) => {
                tracing::warn!(tenant = %self.tenant, "renewal refused: {e}");
                Ok(false)
            }
        }
    }

    pub async fn release(self, kv: &Store) -> Result<()> {
        kv.delete_expect_revision(&self.tenant, Some(self.revision))
            .await?;
        Ok(())
    }
}
