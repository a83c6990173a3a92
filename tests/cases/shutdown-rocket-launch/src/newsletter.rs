use std::time::Duration;

use redis::aio::ConnectionManager;
use redis::{AsyncCommands, ExistenceCheck, Script, SetExpiry, SetOptions};
use rocket::tokio::process::Command;
use rocket::tokio::select;
use rocket::tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

const KEY: &str = "newsletter:sender";
const TTL_SECS: u64 = 30;

const EXTEND: &str = r#"
    if redis.call("get", KEYS[1]) ~= ARGV[1] then return 0 end
    return redis.call("expire", KEYS[1], ARGV[2])"#;
const FREE: &str = r#"
    if redis.call("get", KEYS[1]) ~= ARGV[1] then return 0 end
    return redis.call("del", KEYS[1])"#;

pub async fn run(mut redis: ConnectionManager, cancel: CancellationToken) {
    loop {
        select! {
            _ = cancel.cancelled() => return,
            _ = sleep(Duration::from_secs(60)) => {}
        }
        let me = Uuid::new_v4().to_string();
        let nx = SetOptions::default()
            .conditional_set(ExistenceCheck::NX)
            .with_expiration(SetExpiry::EX(TTL_SECS));
        let won: redis::RedisResult<Option<String>> = redis.set_options(KEY, &me, nx).await;
        match won {
            Ok(Some(_)) => {}
            Ok(None) => continue,
            Err(e) => {
                warn!("newsletter: {e}");
                continue;
            }
        }
        select! {
            _ = cancel.cancelled() => info!("newsletter: stopped"),
            _ = send() => {}
            _ = lost(redis.clone(), &me) => warn!("newsletter: lock lost"),
        }
        let freed: redis::RedisResult<i64> = Script::new(FREE)
            .key(KEY)
            .arg(&me)
            .invoke_async(&mut redis)
            .await;
        match freed {
            Ok(1) => {}
            other => warn!("newsletter: lock not freed: {other:?}"),
        }
    }
}

async fn lost(mut redis: ConnectionManager, me: &str) {
    let mut failures = 0;
    while failures < 2 {
        sleep(Duration::from_secs(TTL_SECS / 3)).await;
        let n: redis::RedisResult<i64> = Script::new(EXTEND)
            .key(KEY)
            .arg(me)
            .arg(TTL_SECS)
            .invoke_async(&mut redis)
            .await;
        match n {
            Ok(1) => failures = 0,
            Ok(_) => return,
            Err(_) => failures += 1,
        }
    }
}

async fn send() {
    match Command::new("newsletter-send")
        .kill_on_drop(true)
        .status()
        .await
    {
        Ok(status) => info!("newsletter: {status}"),
        Err(e) => warn!("newsletter: {e}"),
    }
}
