use std::time::{Duration, Instant};

use fred::prelude::*;
use fred::types::{Expiration, SetOptions};
use uuid::Uuid;

const UNLOCK: &str = r"
local v = redis.call('get', KEYS[1])
if v ~= ARGV[1] then return 0 end
return redis.call('del', KEYS[1])";

pub struct Five {
    nodes: Vec<Client>,
}

pub struct Grant {
    key: String,
    value: String,
    pub validity: Duration,
}

impl Five {
    pub fn new(nodes: Vec<Client>) -> Self {
        Self { nodes }
    }

    pub fn majority(&self) -> usize {
        self.nodes.len() / 2 + 1
    }

    /// Asks the nodes one after the other.
    pub async fn grant(&self, key: &str, ttl: Duration) -> Option<Grant> {
        let asked = Instant::now();
        let value = Uuid::new_v4().to_string();
        let mut won = 0;
        for node in &self.nodes {
            let set: Result<Option<String>, Error> = node
                .set(
                    key,
                    value.as_str(),
                    Some(Expiration::PX(ttl.as_millis() as i64)),
                    Some(SetOptions::NX),
                    false,
                )
                .await;
            match set {
                Ok(Some(_)) => won += 1,
                Ok(None) => {}
                Err(e) => log::warn!("node without answer: {e}"),
            }
        }

        let grant = Grant {
            key: key.to_owned(),
            value,
            validity: left(ttl, asked.elapsed())?,
        };
        if won < self.majority() {
            return None;
        }
        Some(grant)
    }

    pub async fn free(&self, grant: &Grant) -> usize {
        let mut freed = 0;
        for node in &self.nodes {
            let n: Result<i64, Error> = node
                .eval(UNLOCK, vec![grant.key.as_str()], vec![grant.value.as_str()])
                .await;
            match n {
                Ok(1) => freed += 1,
                Ok(_) => {}
                Err(e) => log::warn!("unlock: {e}"),
            }
        }
        freed
    }
}

/// What is left of the TTL after the asking, less 1 % and 2 ms for the nodes' clocks.
fn left(ttl: Duration, elapsed: Duration) -> Option<Duration> {
    let drift = ttl / 100 + Duration::from_millis(2);
    ttl.checked_sub(elapsed)?
        .checked_sub(drift)
        .filter(|d| *d > Duration::ZERO)
}
