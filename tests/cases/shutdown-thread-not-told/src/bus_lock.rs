use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Result;
use redis::{Client, Script};

const TTL_MS: u64 = 30_000;

#[derive(Clone)]
pub struct BusLock {
    client: Client,
    key: String,
    owner: String,
}

impl BusLock {
    pub fn acquire(client: Client, bus: &str) -> Result<Option<Self>> {
        let lock = Self {
            client,
            key: format!("bus:{bus}:lock"),
            owner: uuid::Uuid::new_v4().to_string(),
        };
        let mut conn = lock.client.get_connection()?;
        let won: Option<String> = redis::cmd("SET")
            .arg(&lock.key)
            .arg(&lock.owner)
            .arg("NX")
            .arg("PX")
            .arg(TTL_MS)
            .query(&mut conn)?;
        Ok(won.map(|_| lock))
    }

    /// The channel says so when the lock is lost.
    pub fn start_renewal(&self) -> (JoinHandle<()>, Receiver<()>) {
        let (tell, lost) = sync_channel(1);
        let lock = self.clone();
        let thread = std::thread::spawn(move || {
            let mut failures = 0;
            while failures < 2 {
                std::thread::sleep(Duration::from_millis(TTL_MS / 3));
                match lock.renew() {
                    Ok(true) => failures = 0,
                    Ok(false) => break,
                    Err(e) => {
                        failures += 1;
                        log::warn!("renewal of {}: {e}", lock.key);
                    }
                }
            }
            let _ = tell.send(());
        });
        (thread, lost)
    }

    fn renew(&self) -> redis::RedisResult<bool> {
        let mut conn = self.client.get_connection()?;
        let n: i64 = Script::new(
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0",
        )
        .key(&self.key)
        .arg(&self.owner)
        .arg(TTL_MS)
        .invoke(&mut conn)?;
        Ok(n == 1)
    }

    pub fn release(&self) -> redis::RedisResult<bool> {
        let mut conn = self.client.get_connection()?;
        let n: i64 = Script::new(
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0",
        )
        .key(&self.key)
        .arg(&self.owner)
        .invoke(&mut conn)?;
        Ok(n == 1)
    }
}
