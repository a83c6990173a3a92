use redis::aio::MultiplexedConnection;
use redis::AsyncCommands;
use uuid::Uuid;

/// The name of a zone as the provider wants it: lower case, no final dot.
#[derive(Clone, Debug)]
pub struct Zone(String);

impl Zone {
    pub fn parse(raw: &str) -> Option<Zone> {
        let name = raw.trim_end_matches('.').to_ascii_lowercase();
        (!name.is_empty() && name.contains('.')).then_some(Zone(name))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn lock_key(&self) -> String {
        ["dns", "zone", self.as_str(), "publisher"].join(":")
    }
}

#[derive(Clone)]
pub struct ZoneLocks {
    con: MultiplexedConnection,
}

#[must_use]
pub struct ZoneLock {
    key: String,
    secret: String,
}

impl ZoneLocks {
    pub async fn lock(&mut self, zone: &Zone) -> redis::RedisResult<Option<ZoneLock>> {
        let lock = ZoneLock {
            key: zone.lock_key(),
            secret: Uuid::new_v4().to_string(),
        };
        let mut cmd = redis::Cmd::set(&lock.key, &lock.secret);
        cmd.arg("NX");
        cmd.arg("PX");
        cmd.arg(60_000);
        let reply: Option<String> = cmd.query_async(&mut self.con).await?;
        Ok(reply.map(|_| lock))
    }

    pub async fn unlock(&mut self, lock: ZoneLock) -> redis::RedisResult<bool> {
        let script = redis::Script::new(
            r"
            local held = redis.call('get', KEYS[1])
            if held and held == ARGV[1] then
                redis.call('del', KEYS[1])
                return 1
            end
            return 0
            ",
        );
        let done: i32 = script
            .key(lock.key)
            .arg(lock.secret)
            .invoke_async(&mut self.con)
            .await?;
        Ok(done == 1)
    }

    /// How many zones are known to the cache. For the status page.
    pub async fn known_zones(&mut self) -> redis::RedisResult<u64> {
        self.con.scard("dns:zones").await
    }
}
