use redis::aio::ConnectionManager;
use redis::{AsyncCommands, ExistenceCheck, Script, SetExpiry, SetOptions};
use uuid::Uuid;

pub(crate) struct Held {
    key: String,
    value: String,
}

pub(crate) async fn hold(
    conn: &mut ConnectionManager,
    key: String,
    seconds: u64,
) -> redis::RedisResult<Option<Held>> {
    let value = Uuid::new_v4().to_string();
    let won: Option<String> = conn
        .set_options(
            &key,
            &value,
            SetOptions::default()
                .conditional_set(ExistenceCheck::NX)
                .with_expiration(SetExpiry::EX(seconds)),
        )
        .await?;
    Ok(won.map(|_| Held { key, value }))
}

pub(crate) async fn drop_hold(
    conn: &mut ConnectionManager,
    held: Held,
) -> redis::RedisResult<bool> {
    let script = Script::new(
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0",
    );
    let n: i64 = script
        .key(held.key)
        .arg(held.value)
        .invoke_async(conn)
        .await?;
    Ok(n == 1)
}
