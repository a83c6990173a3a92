use std::future::Future;
use std::time::Duration;

use fred::prelude::*;
use fred::types::{Expiration, SetOptions};
use rand::Rng;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

const UNLOCK: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("redis: {0}")]
    Redis(#[from] fred::error::Error),
    #[error("lock lost while working on {0}")]
    Lost(String),
}

pub struct AlbumLock {
    client: Client,
    key: String,
    secret: String,
    ttl_ms: i64,
}

impl AlbumLock {
    pub async fn try_lock(
        client: Client,
        album: u64,
        ttl_ms: i64,
    ) -> Result<Option<Self>, LockError> {
        let secret = format!("{:032x}", rand::thread_rng().gen::<u128>());
        let key = format!("album:{album}:thumbs:lock");
        let reply: Option<String> = client
            .set(
                &key,
                secret.as_str(),
                Some(Expiration::PX(ttl_ms)),
                Some(SetOptions::NX),
                false,
            )
            .await?;
        Ok(reply.map(|_| Self {
            client,
            key,
            secret,
            ttl_ms,
        }))
    }

    /// False when somebody else has the album by now.
    async fn extend(&self) -> Result<bool, LockError> {
        let current: Option<String> = self.client.get(&self.key).await?;
        if current.as_deref() != Some(self.secret.as_str()) {
            return Ok(false);
        }
        let reply: Option<String> = self
            .client
            .set(
                &self.key,
                self.secret.as_str(),
                Some(Expiration::PX(self.ttl_ms)),
                Some(SetOptions::XX),
                false,
            )
            .await?;
        Ok(reply.is_some())
    }

    pub async fn unlock(self) -> Result<bool, LockError> {
        let n: i64 = self
            .client
            .eval(UNLOCK, vec![self.key], vec![self.secret])
            .await?;
        Ok(n > 0)
    }

    /// Runs `work` while the lock is being kept alive; the work is dropped once it is lost.
    pub async fn hold<F, T>(self, work: F) -> Result<T, LockError>
    where
        F: Future<Output = T>,
    {
        let (stop, stopped) = oneshot::channel();
        let (gone_tx, mut gone) = watch::channel(false);
        let keeper = self.keep(stopped, gone_tx);
        let out = tokio::select! {
            v = work => Some(v),
            _ = gone.wait_for(|g| *g) => None,
        };
        let _ = stop.send(());
        let lock = keeper.await.expect("keeper panicked");
        let key = lock.key.clone();
        if !lock.unlock().await? {
            tracing::warn!(%key, "lock had already passed on");
        }
        out.ok_or(LockError::Lost(key))
    }

    fn keep(
        self,
        mut stopped: oneshot::Receiver<()>,
        gone: watch::Sender<bool>,
    ) -> JoinHandle<Self> {
        tokio::spawn(async move {
            let every = Duration::from_millis(self.ttl_ms.unsigned_abs() / 4);
            let mut failed = 0;
            loop {
                tokio::select! {
                    _ = &mut stopped => return self,
                    _ = tokio::time::sleep(every) => {}
                }
                failed = match self.extend().await {
                    Ok(true) => 0,
                    Ok(false) => 2,
                    Err(e) => {
                        tracing::warn!("extend {}: {e}", self.key);
                        failed + 1
                    }
                };
                if failed >= 2 {
                    gone.send_replace(true);
                    return self;
                }
            }
        })
    }
}
