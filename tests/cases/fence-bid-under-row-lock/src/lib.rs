use sqlx::{PgPool, Postgres, Transaction};

#[derive(Debug, thiserror::Error)]
pub enum BidError {
    #[error(transparent)]
    Db(#[from] sqlx::Error),
    #[error("somebody has bid since")]
    Outdated,
    #[error("not enough")]
    TooLow,
}

#[derive(sqlx::FromRow)]
struct Auction {
    highest: i64,
    version: i64,
}

async fn lock_auction(tx: &mut Transaction<'_, Postgres>, id: i64) -> Result<Auction, BidError> {
    Ok(sqlx::query_as("SELECT highest, version FROM auctions WHERE id = $1 FOR UPDATE")
        .bind(id)
        .fetch_one(&mut **tx)
        .await?)
}

pub struct Bid {
    pub auction: i64,
    pub bidder: i64,
    pub amount: i64,
    /// The version of the auction that the bidder saw.
    pub seen: i64,
}

pub async fn place(pool: &PgPool, bid: &Bid) -> Result<i64, BidError> {
    let mut tx = pool.begin().await?;
    let now = lock_auction(&mut tx, bid.auction).await?;
    if now.version != bid.seen {
        return Err(BidError::Outdated);
    }
    if bid.amount <= now.highest {
        return Err(BidError::TooLow);
    }
    sqlx::query("UPDATE auctions SET highest = $2, bidder = $3, version = version + 1 WHERE id = $1")
        .bind(bid.auction)
        .bind(bid.amount)
        .bind(bid.bidder)
        .execute(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(now.version + 1)
}
