use redis::aio::ConnectionManager;
use redis::{AsyncCommands, ExistenceCheck, RedisResult, Script, SetExpiry, SetOptions};

use crate::identity::node;

const LEAVE: &str = r"
local who = redis.call('GET', KEYS[1])
if who == ARGV[1] then
    return redis.call('DEL', KEYS[1])
end
return 0";

/// A quarry is surveyed by one task at a time.
pub async fn begin_survey(c: &mut ConnectionManager, quarry: u32) -> RedisResult<bool> {
    let opts = SetOptions::default()
        .conditional_set(ExistenceCheck::NX)
        .with_expiration(SetExpiry::PX(50_000));
    let ok: Option<String> = c.set_options(format!("quarry:{quarry}:survey-lock"), node(), opts).await?;
    Ok(ok.is_some())
}

/// False when the survey belongs to another by now.
pub async fn end_survey(c: &mut ConnectionManager, quarry: u32) -> RedisResult<bool> {
    let n: i64 = Script::new(LEAVE)
        .key(format!("quarry:{quarry}:survey-lock"))
        .arg(node())
        .invoke_async(c)
        .await?;
    Ok(n == 1)
}
