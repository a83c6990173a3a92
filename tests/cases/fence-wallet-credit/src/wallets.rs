use sqlx::PgPool;

#[derive(Debug, thiserror::Error)]
pub enum WalletError {
    #[error(transparent)]
    Sql(#[from] sqlx::Error),
    #[error("token {token} is stale for wallet {wallet}")]
    Stale { wallet: i64, token: i64 },
}

/// A wallet's money. Every change carries the settler's fencing token.
#[derive(Clone)]
pub struct Wallets {
    pool: PgPool,
}

impl Wallets {
    pub fn new(pool: PgPool) -> Self {
        Wallets { pool }
    }

    pub async fn credit(&self, wallet: i64, cents: i64, token: i64) -> Result<(), WalletError> {
        let done = sqlx::query(
            "UPDATE wallets
                SET balance_cents = balance_cents + $2, fencing_token = $3
              WHERE id = $1
                AND fencing_token <= $3",
        )
        .bind(wallet)
        .bind(cents)
        .bind(token)
        .execute(&self.pool)
        .await?;
        match done.rows_affected() {
            0 => Err(WalletError::Stale { wallet, token }),
            _ => Ok(()),
        }
    }

    pub async fn freeze(&self, wallet: i64, token: i64) -> Result<(), WalletError> {
        let done = sqlx::query(
            "UPDATE wallets SET frozen = TRUE, fencing_token = $2
              WHERE id = $1 AND fencing_token < $2",
        )
        .bind(wallet)
        .bind(token)
        .execute(&self.pool)
        .await?;
        match done.rows_affected() {
            0 => Err(WalletError::Stale { wallet, token }),
            _ => Ok(()),
        }
    }
}
