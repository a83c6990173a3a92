use sqlx::PgPool;

#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    #[error(transparent)]
    Db(#[from] sqlx::Error),
    #[error(transparent)]
    Migrate(#[from] sqlx::migrate::MigrateError),
    #[error("fence {0} is not the newest")]
    Stale(i64),
}

pub async fn open(url: &str) -> Result<PgPool, LedgerError> {
    let pool = PgPool::connect(url).await?;
    sqlx::migrate!("./migrations").run(&pool).await?;
    Ok(pool)
}

pub async fn set_balance(pool: &PgPool, ledger: i64, balance: i64, fence: i64) -> Result<(), LedgerError> {
    let r = sqlx::query!(
        "UPDATE ledgers SET balance = $1, fence = $2 WHERE id = $3 AND fence < $2",
        balance,
        fence,
        ledger
    )
    .execute(pool)
    .await?;
    match r.rows_affected() {
        1 => Ok(()),
        _ => Err(LedgerError::Stale(fence)),
    }
}
