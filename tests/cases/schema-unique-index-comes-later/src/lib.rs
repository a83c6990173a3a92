use deadpool_postgres::Pool;
use uuid::Uuid;

const LOCK: &str = "
INSERT INTO app_locks (lock_name, owner, expires_at)
VALUES ($1, $2, now() + interval '45 seconds')
ON CONFLICT (lock_name) DO UPDATE
SET owner = EXCLUDED.owner, expires_at = EXCLUDED.expires_at
WHERE app_locks.expires_at < now()";

const UNLOCK: &str = "DELETE FROM app_locks WHERE lock_name = $1 AND owner = $2";

pub struct AppLock {
    name: String,
    owner: Uuid,
}

pub async fn lock(pool: &Pool, name: &str) -> anyhow::Result<Option<AppLock>> {
    let owner = Uuid::new_v4();
    let db = pool.get().await?;
    let rows = db.execute(LOCK, &[&name, &owner]).await?;
    Ok((rows == 1).then(|| AppLock {
        name: name.to_string(),
        owner,
    }))
}

pub async fn unlock(pool: &Pool, lock: AppLock) -> anyhow::Result<()> {
    let db = pool.get().await?;
    let rows = db.execute(UNLOCK, &[&lock.name, &lock.owner]).await?;
    anyhow::ensure!(rows == 1, "{} was taken over", lock.name);
    Ok(())
}
