use std::time::Duration;

use anyhow::{Result, bail};
use fred::prelude::*;
use fred::types::{Expiration, SetOptions};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

const TTL_MS: i64 = 30_000;

pub struct Region {
    redis: Client,
    name: String,
}

impl Region {
    pub fn new(redis: Client, name: String) -> Self {
        Self { redis, name }
    }

    fn key(&self) -> String {
        format!("mirror:{}:sync", self.name)
    }

    pub async fn sync_once(&self, cancel: &CancellationToken) -> Result<()> {
        let me = Uuid::new_v4().to_string();
        let won: Option<String> = self
            .redis
            .set(
                self.key(),
                me.as_str(),
                Some(Expiration::PX(TTL_MS)),
                Some(SetOptions::NX),
                false,
            )
            .await?;
        if won.is_none() {
            return Ok(());
        }
        let result = tokio::select! {
            r = self.rsync() => r,
            e = self.keep(&me) => Err(e),
            _ = cancel.cancelled() => Ok(()),
        };
        let n: i64 = self
            .redis
            .eval(
                "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0",
                vec![self.key()],
                vec![me],
            )
            .await?;
        if n == 0 {
            tracing::warn!(region = %self.name, "lock ran out");
        }
        result
    }

    async fn keep(&self, me: &str) -> anyhow::Error {
        let mut failed = 0;
        while failed < 2 {
            tokio::time::sleep(Duration::from_secs(10)).await;
            let n: Result<i64, Error> = self
                .redis
                .eval(
                    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0",
                    vec![self.key()],
                    vec![me.to_owned(), TTL_MS.to_string()],
                )
                .await;
            match n {
                Ok(1) => failed = 0,
                Ok(_) => break,
                Err(_) => failed += 1,
            }
        }
        anyhow::anyhow!("lock of region {} lost", self.name)
    }

    async fn rsync(&self) -> Result<()> {
        let status = Command::new("rsync")
            .args([
                "-a",
                "--delete",
                "/origin/",
                &format!("rsync://{}/mirror", self.name),
            ])
            .kill_on_drop(true)
            .status()
            .await?;
        if !status.success() {
            bail!("rsync to {}: {status}", self.name);
        }
        Ok(())
    }
}
