use deadpool_redis::redis::{self, AsyncCommands, Script};
use deadpool_redis::Pool;
use uuid::Uuid;

const DONE: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

/// A reader's round through a street.
pub struct Round {
    street: String,
    reader: String,
    pub fence: i64,
}

impl Round {
    pub async fn set_out(pool: &Pool, street: &str) -> anyhow::Result<Option<Round>> {
        let mut c = pool.get().await?;
        let reader = Uuid::new_v4().to_string();
        let won: Option<String> = redis::cmd("SET")
            .arg(format!("street:{street}:round"))
            .arg(&reader)
            .arg("NX")
            .arg("PX")
            .arg(60_000)
            .query_async(&mut c)
            .await?;
        if won.is_none() {
            return Ok(None);
        }
        let fence: i64 = c.incr("meters:fence", 1).await?;
        Ok(Some(Round {
            street: street.to_string(),
            reader,
            fence,
        }))
    }

    pub async fn come_home(self, pool: &Pool) -> anyhow::Result<bool> {
        let mut c = pool.get().await?;
        let n: i64 = Script::new(DONE)
            .key(format!("street:{}:round", self.street))
            .arg(self.reader)
            .invoke_async(&mut c)
            .await?;
        Ok(n == 1)
    }
}
