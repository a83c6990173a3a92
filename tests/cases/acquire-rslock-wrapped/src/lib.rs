use std::future::Future;
use std::time::Duration;

use rslock::{Lock, LockError, LockManager};

#[derive(Debug, thiserror::Error)]
pub enum HerdError {
    #[error("the barn is in use")]
    InUse,
    #[error("redis: {0}")]
    Redis(String),
}

/// Barns; the milking robots of several farms share them.
pub struct Barns {
    manager: LockManager,
    longest: Duration,
}

impl Barns {
    pub fn new(uris: Vec<String>) -> Self {
        Self {
            manager: LockManager::new(uris),
            longest: Duration::from_secs(45),
        }
    }

    async fn enter(&self, barn: &str) -> Result<Lock, HerdError> {
        self.manager
            .lock(format!("barn/{barn}").as_bytes(), self.longest)
            .await
            .map_err(|e| match e {
                LockError::Unavailable => HerdError::InUse,
                other => HerdError::Redis(other.to_string()),
            })
    }

    pub async fn milk<F, T>(&self, barn: &str, robot: F) -> Result<T, HerdError>
    where
        F: Future<Output = T>,
    {
        let inside = self.enter(barn).await?;
        let litres = robot.await;
        self.manager.unlock(&inside).await;
        Ok(litres)
    }
}
