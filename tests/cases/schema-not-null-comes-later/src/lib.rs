use sqlx::PgPool;

pub struct Lamp {
    pub id: i64,
    pub lumen: i32,
}

/// Writes under the token of the light controller's lease.
pub async fn dim(pool: &PgPool, lamp: &Lamp, token: i64) -> anyhow::Result<()> {
    let dimmed: Option<i64> = sqlx::query_scalar(
        "UPDATE lamps SET lumen = $2, fence = $3 WHERE id = $1 AND fence < $3 RETURNING id",
    )
    .bind(lamp.id)
    .bind(lamp.lumen)
    .bind(token)
    .fetch_optional(pool)
    .await?;
    if dimmed.is_none() {
        anyhow::bail!("lamp {} is under a later controller", lamp.id);
    }
    Ok(())
}
