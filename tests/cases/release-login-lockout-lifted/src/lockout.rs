use redis::aio::ConnectionManager;
use redis::{AsyncCommands, RedisResult};

const MAX_FAILURES: u32 = 8;
const LOCKED_SECONDS: u64 = 900;

fn lock_key(account: i64) -> String {
    format!("account:{account}:locked")
}

fn failure_key(account: i64) -> String {
    format!("account:{account}:failures")
}

pub async fn is_locked(c: &mut ConnectionManager, account: i64) -> RedisResult<bool> {
    c.exists(lock_key(account)).await
}

/// Counts a wrong password and locks the account after too many of them.
pub async fn failed(c: &mut ConnectionManager, account: i64) -> RedisResult<()> {
    let n: u32 = c.incr(failure_key(account), 1).await?;
    if n >= MAX_FAILURES {
        let _: () = c.set_ex(lock_key(account), "too many failures", LOCKED_SECONDS).await?;
        let _: () = c.del(failure_key(account)).await?;
    }
    Ok(())
}

/// The right password, or a word from the help desk.
pub async fn unlock(c: &mut ConnectionManager, account: i64) -> RedisResult<()> {
    c.del(&[lock_key(account), failure_key(account)]).await
}
