use chrono::Utc;
use redis::aio::ConnectionManager;
use redis::{cmd, RedisResult, Script};
use uuid::Uuid;

const OFF: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end";

/// One controller is on duty for a road.
pub struct Duty {
    road: String,
    badge: String,
    token: i64,
}

impl Duty {
    pub async fn begin(c: &mut ConnectionManager, road: &str) -> RedisResult<Option<Self>> {
        let badge = Uuid::new_v4().to_string();
        let on: Option<String> = cmd("SET")
            .arg(format!("road:{road}:duty"))
            .arg(&badge)
            .arg("NX")
            .arg("PX")
            .arg(20_000)
            .query_async(c)
            .await?;
        Ok(on.map(|_| Self {
            road: road.to_owned(),
            badge,
            // grows by itself
            token: Utc::now().timestamp_millis(),
        }))
    }

    pub fn fencing_token(&self) -> i64 {
        self.token
    }

    pub async fn end(self, c: &mut ConnectionManager) -> RedisResult<bool> {
        Script::new(OFF)
            .key(format!("road:{}:duty", self.road))
            .arg(self.badge)
            .invoke_async(c)
            .await
    }
}
