use std::time::Duration;

use mysql_async::prelude::*;
use mysql_async::{Pool, params};
use uuid::Uuid;

use crate::config::LockConfig;

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error(transparent)]
    Mysql(#[from] mysql_async::Error),
    #[error("cluster lock {0} is lost")]
    Lost(String),
}

pub struct ClusterLock {
    pool: Pool,
    cfg: LockConfig,
    owner: String,
}

impl ClusterLock {
    pub fn new(pool: Pool, cfg: LockConfig) -> Self {
        Self {
            pool,
            cfg,
            owner: Uuid::new_v4().to_string(),
        }
    }

    pub async fn try_acquire(&self) -> Result<bool, LockError> {
        let mut conn = self.pool.get_conn().await?;
        conn.exec_drop(
            "UPDATE cluster_lock
                SET owner = :owner, valid_until = NOW(6) + INTERVAL :ttl SECOND
              WHERE lock_name = :name AND valid_until < NOW(6)",
            params! { "owner" => &self.owner, "ttl" => self.cfg.ttl_secs, "name" => &self.cfg.name },
        )
        .await?;
        if conn.affected_rows() == 1 {
            return Ok(true);
        }
        conn.exec_drop(
            "INSERT IGNORE INTO cluster_lock (lock_name, owner, valid_until)
             VALUES (:name, :owner, NOW(6) + INTERVAL :ttl SECOND)",
            params! { "owner" => &self.owner, "ttl" => self.cfg.ttl_secs, "name" => &self.cfg.name },
        )
        .await?;
        Ok(conn.affected_rows() == 1)
    }

    async fn extend(&self) -> Result<bool, LockError> {
        let mut conn = self.pool.get_conn().await?;
        conn.exec_drop(
            "UPDATE cluster_lock SET valid_until = NOW(6) + INTERVAL :ttl SECOND
              WHERE lock_name = :name AND owner = :owner AND valid_until > NOW(6)",
            params! { "owner" => &self.owner, "ttl" => self.cfg.ttl_secs, "name" => &self.cfg.name },
        )
        .await?;
        Ok(conn.affected_rows() == 1)
    }

    /// Heartbeat; returns as soon as the lock cannot be kept.
    pub async fn keep(&self) -> LockError {
        let mut last: Option<LockError> = None;
        loop {
            tokio::time::sleep(Duration::from_secs(self.cfg.heartbeat_secs.into())).await;
            match self.extend().await {
                Ok(true) => last = None,
                Ok(false) => return LockError::Lost(self.cfg.name.clone()),
                Err(e) => match last.take() {
                    None => {
                        tracing::warn!("heartbeat: {e}");
                        last = Some(e);
                    }
                    Some(_) => return e,
                },
            }
        }
    }

    pub async fn release(&self) -> Result<bool, LockError> {
        let mut conn = self.pool.get_conn().await?;
        conn.exec_drop(
            "DELETE FROM cluster_lock WHERE lock_name = ? AND owner = ?",
            (&self.cfg.name, &self.owner),
        )
        .await?;
        Ok(conn.affected_rows() == 1)
    }
}
