use sqlx::{PgPool, Postgres, QueryBuilder};

pub struct Order {
    pub robot: i64,
    pub task: String,
}

/// Gives robots their tasks on behalf of the dispatcher whose lease has the fencing token `fence`.
pub async fn send(pool: &PgPool, order: &Order, fence: i64) -> anyhow::Result<()> {
    let mut q = QueryBuilder::<Postgres>::new("UPDATE robots SET task = ");
    q.push_bind(&order.task);
    q.push(", idle = FALSE, fence = ").push_bind(fence);
    q.push(" WHERE id = ").push_bind(order.robot);
    q.push(" AND fence < ").push_bind(fence);
    q.push(" OR idle");
    let n = q.build().execute(pool).await?.rows_affected();
    anyhow::ensure!(n == 1, "robot {} obeys a later dispatcher", order.robot);
    Ok(())
}

pub async fn stop_all(pool: &PgPool, robots: &[i64], fence: i64) -> anyhow::Result<u64> {
    let done = sqlx::query("UPDATE robots SET task = NULL, idle = TRUE, fence = $2 WHERE id = ANY($1) AND fence < $2")
        .bind(robots)
        .bind(fence)
        .execute(pool)
        .await?
        .rows_affected();
    anyhow::ensure!(done == robots.len() as u64, "{} robots obey a later dispatcher", robots.len() as u64 - done);
    Ok(done)
}
