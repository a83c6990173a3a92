use anyhow::{Result, bail};
use argon2::{Argon2, PasswordHash, PasswordVerifier};
use chrono::{DateTime, Duration, Utc};
use sqlx::PgPool;
use uuid::Uuid;

const MAX_FAILURES: i32 = 5;

#[derive(sqlx::FromRow)]
struct Account {
    id: Uuid,
    password: String,
    failed_logins: i32,
    locked_until: Option<DateTime<Utc>>,
}

pub async fn login(pool: &PgPool, email: &str, password: &str) -> Result<Uuid> {
    let account: Account = sqlx::query_as(
        "SELECT id, password, failed_logins, locked_until FROM account WHERE email = $1",
    )
    .bind(email)
    .fetch_one(pool)
    .await?;
    if let Some(until) = account.locked_until {
        if until > Utc::now() {
            bail!(
                "locked for {} more minutes",
                (until - Utc::now()).num_minutes() + 1
            );
        }
    }
    let hash =
        PasswordHash::new(&account.password).map_err(|e| anyhow::anyhow!("stored hash: {e}"))?;
    if Argon2::default()
        .verify_password(password.as_bytes(), &hash)
        .is_err()
    {
        punish(pool, &account).await?;
        bail!("wrong password");
    }
    sqlx::query("UPDATE account SET failed_logins = 0, locked_until = NULL WHERE id = $1")
        .bind(account.id)
        .execute(pool)
        .await?;
    Ok(account.id)
}

async fn punish(pool: &PgPool, account: &Account) -> sqlx::Result<()> {
    let locked_until =
        (account.failed_logins + 1 >= MAX_FAILURES).then(|| Utc::now() + Duration::minutes(15));
    sqlx::query(
        "UPDATE account SET failed_logins = failed_logins + 1, locked_until = $2 WHERE id = $1",
    )
    .bind(account.id)
    .bind(locked_until)
    .execute(pool)
    .await?;
    Ok(())
}
