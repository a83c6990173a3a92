use std::time::Duration;

use fred::prelude::*;
use fred::types::{Expiration, Script, SetOptions};
use futures::StreamExt;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::IntervalStream;
use uuid::Uuid;

const TTL: Duration = Duration::from_secs(15);

const PEXPIRE_MINE: &str = "
if redis.call('get', KEYS[1]) == ARGV[1] then
  return redis.call('pexpire', KEYS[1], ARGV[2])
end
return 0
";

const DEL_MINE: &str = "
if redis.call('get', KEYS[1]) == ARGV[1] then
  return redis.call('del', KEYS[1])
end
return 0
";

pub struct PlaylistLock {
    redis: RedisClient,
    key: String,
    token: String,
    renewal: JoinHandle<()>,
}

impl PlaylistLock {
    pub async fn acquire(redis: &RedisClient, playlist: &str) -> Result<Option<Self>, RedisError> {
        let key = format!("playlist:{playlist}:curator");
        let token = Uuid::new_v4().to_string();
        let ok: Option<String> = redis
            .set(
                key.as_str(),
                token.as_str(),
                Some(Expiration::PX(TTL.as_millis() as i64)),
                Some(SetOptions::NX),
                false,
            )
            .await?;
        if ok.is_none() {
            return Ok(None);
        }
        let renewal = tokio::spawn(Self::renew(redis.clone(), key.clone(), token.clone()));
        Ok(Some(Self {
            redis: redis.clone(),
            key,
            token,
            renewal,
        }))
    }

    async fn renew(redis: RedisClient, key: String, token: String) {
        let script = Script::from_lua(PEXPIRE_MINE);
        let mut ticks = IntervalStream::new(tokio::time::interval(TTL / 3)).skip(1);
        while ticks.next().await.is_some() {
            let n: Result<i64, _> = script
                .evalsha_with_reload(
                    &redis,
                    vec![key.clone()],
                    vec![token.clone(), TTL.as_millis().to_string()],
                )
                .await;
            if n.unwrap_or(0) == 0 {
                tracing::warn!(%key, "lock not renewed");
                break;
            }
        }
    }

    /// Ends the renewal, then gives the playlist back.
    pub async fn release(self) -> Result<bool, RedisError> {
        self.renewal.abort();
        let _ = self.renewal.await;
        let n: i64 = Script::from_lua(DEL_MINE)
            .evalsha_with_reload(&self.redis, vec![self.key], vec![self.token])
            .await?;
        Ok(n == 1)
    }
}
