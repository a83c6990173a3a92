use std::time::Duration;

use fred::interfaces::{KeysInterface, LuaInterface};
use fred::prelude::{RedisError, RedisPool};
use fred::types::{Expiration, SetOptions};
use rand::Rng;

const LET_GO: &str = r#"
local v = redis.call('GET', KEYS[1])
if v ~= ARGV[1] then
    return 0
end
redis.call('DEL', KEYS[1])
return 1
"#;

pub struct CursorLease {
    pool: RedisPool,
    key: String,
    nonce: String,
}

impl CursorLease {
    pub async fn take(
        pool: &RedisPool,
        feed: &str,
        ttl: Duration,
    ) -> Result<Option<CursorLease>, RedisError> {
        let key = format!("feed:{feed}:cursor-lease");
        let nonce = format!("{:032x}", rand::thread_rng().gen::<u128>());
        let set: Option<String> = pool
            .set(
                &key,
                &nonce,
                Some(Expiration::PX(ttl.as_millis() as i64)),
                Some(SetOptions::NX),
                false,
            )
            .await?;
        Ok(set.map(|_| CursorLease {
            pool: pool.clone(),
            key,
            nonce,
        }))
    }

    pub async fn let_go(self) -> Result<bool, RedisError> {
        let n: i64 = self
            .pool
            .next()
            .eval(LET_GO, vec![self.key], vec![self.nonce])
            .await?;
        Ok(n == 1)
    }
}
