use sqlx::{MySql, MySqlPool, Transaction};

#[derive(Debug, thiserror::Error)]
pub enum PriceError {
    #[error(transparent)]
    Db(#[from] sqlx::Error),
    #[error("the pricing lease has passed on")]
    NotLeader,
}

/// Becomes the one who sets prices; the term is the proof.
pub async fn lead(pool: &MySqlPool) -> Result<Option<u64>, PriceError> {
    let mut tx = pool.begin().await?;
    let free: Option<u64> =
        sqlx::query_scalar("SELECT term FROM pricing_lease WHERE name = 'prices' AND ends_at < NOW(6) FOR UPDATE")
            .fetch_optional(&mut *tx)
            .await?;
    let Some(before) = free else {
        tx.rollback().await?;
        return Ok(None);
    };
    let term = before + 1;
    sqlx::query("UPDATE pricing_lease SET term = ?, ends_at = NOW(6) + INTERVAL 30 SECOND WHERE name = 'prices'")
        .bind(term)
        .execute(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(Some(term))
}

/// Holds the lease row until the end of the transaction, so that nobody can take over meanwhile.
async fn still_leading(tx: &mut Transaction<'_, MySql>, term: u64) -> Result<(), PriceError> {
    let mine: Option<i32> =
        sqlx::query_scalar("SELECT 1 FROM pricing_lease WHERE name = 'prices' AND term = ? FOR UPDATE")
            .bind(term)
            .fetch_optional(&mut **tx)
            .await?;
    mine.map(|_| ()).ok_or(PriceError::NotLeader)
}

pub async fn publish(pool: &MySqlPool, term: u64, prices: &[(String, i64)]) -> Result<(), PriceError> {
    let mut tx = pool.begin().await?;
    still_leading(&mut tx, term).await?;
    for (sku, cents) in prices {
        sqlx::query("UPDATE prices SET cents = ? WHERE sku = ?")
            .bind(cents)
            .bind(sku)
            .execute(&mut *tx)
            .await?;
    }
    tx.commit().await?;
    Ok(())
}
