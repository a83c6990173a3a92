use anyhow::{bail, Context};
use serde::Deserialize;

use crate::zone_lock::{Zone, ZoneLocks};

#[derive(Deserialize)]
struct Serial {
    serial: u64,
}

pub struct Publisher {
    locks: ZoneLocks,
    http: reqwest::Client,
    api: String,
}

impl Publisher {
    pub async fn publish(&mut self, zone: &Zone, records: &[String]) -> anyhow::Result<u64> {
        let Some(lock) = self.locks.lock(zone).await? else {
            bail!("{} is being published by somebody else", zone.as_str());
        };

        let outcome: anyhow::Result<u64> = async {
            let Serial { serial } = self
                .http
                .get(format!("{}/zones/{}", self.api, zone.as_str()))
                .send()
                .await?
                .json()
                .await
                .context("serial")?;
            if records.is_empty() {
                bail!("refusing to publish an empty zone");
            }
            // the provider refuses a zone whose base serial is not its own
            self.http
                .put(format!(
                    "{}/zones/{}?base={serial}",
                    self.api,
                    zone.as_str()
                ))
                .json(records)
                .send()
                .await?
                .error_for_status()?;
            Ok(serial + 1)
        }
        .await;

        let in_time = self.locks.unlock(lock).await?;
        if !in_time {
            tracing::warn!(zone = zone.as_str(), "publishing outlived its lock");
        }
        outcome
    }
}
