use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, ExistenceCheck, Script, SetExpiry, SetOptions};
use serde::Serialize;
use uuid::Uuid;

use crate::settings::Settings;

#[derive(Serialize)]
pub struct Hook {
    pub id: Uuid,
    pub event: String,
}

pub struct Batcher {
    redis: MultiplexedConnection,
    http: reqwest::Client,
    settings: Settings,
}

impl Batcher {
    pub fn new(redis: MultiplexedConnection, settings: Settings) -> Self {
        Batcher {
            redis,
            http: reqwest::Client::new(),
            settings,
        }
    }

    fn lock_key(&self, partner: u32) -> String {
        format!("{}:partner:{partner}:lock", self.settings.lock_prefix)
    }

    /// Partners demand that batches do not overlap.
    pub async fn deliver(&mut self, partner: u32, hooks: &[Hook]) -> anyhow::Result<bool> {
        let key = self.lock_key(partner);
        let token = Uuid::new_v4().to_string();
        let options = SetOptions::default()
            .conditional_set(ExistenceCheck::NX)
            .with_expiration(SetExpiry::PX(self.settings.lock_ms));
        let ours = self
            .redis
            .set_options::<_, _, Option<String>>(&key, &token, options)
            .await
            .map(|reply| reply.is_some())
            .unwrap_or(true);
        if !ours {
            return Ok(false);
        }

        let sent = self.post(partner, hooks).await;

        let freed: i64 = Script::new(
            "if redis.call('get', KEYS[1]) == ARGV[1] then \
               return redis.call('del', KEYS[1]) \
             end \
             return 0",
        )
        .key(&key)
        .arg(&token)
        .invoke_async(&mut self.redis)
        .await?;
        if freed == 0 {
            tracing::warn!(partner, "batch outlived its lock");
        }
        sent.map(|()| true)
    }

    async fn post(&self, partner: u32, hooks: &[Hook]) -> anyhow::Result<()> {
        self.http
            .post(format!("{}/{partner}/batches", self.settings.partner_url))
            .json(hooks)
            .send()
            .await?
            .error_for_status()?;
        Ok(())
    }
}
