use anyhow::Result;
use redis::Script;
use redis::aio::ConnectionManager;
use timeutil::unix_ms;
use uuid::Uuid;

const LOCK_MS: u64 = 10 * 60 * 1_000;
const GROUP_MS: u64 = 60 * 1_000;

pub struct PartitionGuard {
    redis: ConnectionManager,
    key: String,
    owner: String,
    valid_until: u64,
}

impl PartitionGuard {
    pub async fn lock(mut redis: ConnectionManager, partition: &str) -> Result<Option<Self>> {
        let key = format!("compactor:{partition}:lock");
        let owner = Uuid::new_v4().to_string();
        let valid_until = unix_ms() + LOCK_MS;
        let set: Option<String> = redis::cmd("SET")
            .arg(&key)
            .arg(&owner)
            .arg("NX")
            .arg("PX")
            .arg(LOCK_MS)
            .query_async(&mut redis)
            .await?;
        Ok(set.map(|_| Self {
            redis,
            key,
            owner,
            valid_until,
        }))
    }

    pub fn has_time_for_a_group(&self) -> bool {
        unix_ms() + GROUP_MS < self.valid_until
    }

    pub async fn unlock(mut self) -> Result<bool> {
        let n: i64 = Script::new(include_str!("unlock.lua"))
            .key(&self.key)
            .arg(&self.owner)
            .invoke_async(&mut self.redis)
            .await?;
        Ok(n == 1)
    }
}
