use redis::aio::MultiplexedConnection;
use redis::RedisResult;
use uuid::Uuid;

pub struct TenantLock {
    pub tenant: u32,
    pub token: Uuid,
}

/// None while the tenant's lock is held. It is never given back, it ends after ten minutes.
pub async fn try_lock(c: &mut MultiplexedConnection, tenant: u32) -> RedisResult<Option<TenantLock>> {
    let token = Uuid::new_v4();
    let ok: Option<String> = redis::cmd("SET")
        .arg(format!("lock:reindex:{tenant}"))
        .arg(token.to_string())
        .arg("NX")
        .arg("PX")
        .arg(600_000)
        .query_async(c)
        .await?;
    Ok(ok.map(|_| TenantLock { tenant, token }))
}
