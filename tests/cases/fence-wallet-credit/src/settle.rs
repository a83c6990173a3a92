use async_trait::async_trait;

use crate::wallets::{WalletError, Wallets};

/// Where the settler's leases come from; the token grows with every one.
#[async_trait]
pub trait LeaseSource: Send + Sync {
    async fn acquire(&self, name: &str) -> Option<i64>;
    async fn release(&self, name: &str, token: i64) -> bool;
}

pub struct Settler<L> {
    leases: L,
    wallets: Wallets,
}

impl<L: LeaseSource> Settler<L> {
    pub fn new(leases: L, wallets: Wallets) -> Self {
        Settler { leases, wallets }
    }

    /// Tries a credit again when the connection broke on the way.
    async fn credit(&self, wallet: i64, cents: i64, token: i64) -> Result<(), WalletError> {
        let mut tries = 0;
        loop {
            match self.wallets.credit(wallet, cents, token).await {
                Err(WalletError::Sql(sqlx::Error::Io(error))) if tries < 3 => {
                    tries += 1;
                    tracing::warn!(%error, tries, "credit is tried again");
                }
                other => return other,
            }
        }
    }

    pub async fn settle(&self, wallet: i64, cents: i64) -> Result<bool, WalletError> {
        let name = format!("wallet/{wallet}");
        let Some(token) = self.leases.acquire(&name).await else {
            return Ok(false);
        };
        let credited = self.credit(wallet, cents, token).await;
        if !self.leases.release(&name, token).await {
            tracing::warn!(wallet, "settling outlived its lease");
        }
        credited.map(|()| true)
    }
}
