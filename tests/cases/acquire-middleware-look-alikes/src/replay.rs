use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};
use sha2::{Digest, Sha256};

use crate::once::Memory;

const DAY: u64 = 24 * 60 * 60;

#[derive(Clone)]
pub struct ReplayGuard {
    memory: Arc<dyn Memory>,
}

impl ReplayGuard {
    pub fn new(memory: Arc<dyn Memory>) -> Self {
        ReplayGuard { memory }
    }

    /// Refuses a signed request that was accepted before.
    pub async fn check(&self, headers: &HeaderMap) -> Result<String, StatusCode> {
        let signature = headers
            .get("x-signature")
            .and_then(|v| v.to_str().ok())
            .ok_or(StatusCode::UNAUTHORIZED)?;
        let name = format!("sig:{:x}", Sha256::digest(signature));
        match self.memory.first_time(&name, DAY).await {
            Ok(true) => Ok(name),
            Ok(false) => Err(StatusCode::CONFLICT),
            Err(error) => {
                tracing::error!(%error, "replay memory");
                Err(StatusCode::SERVICE_UNAVAILABLE)
            }
        }
    }

    /// A request that was refused further down may be sent again.
    pub async fn refused(&self, name: &str) -> anyhow::Result<()> {
        self.memory.forget(name).await
    }
}
