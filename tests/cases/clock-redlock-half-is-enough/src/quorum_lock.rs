//! One lock over several independent Redis nodes.
use std::time::{Duration, Instant};

use futures::future::join_all;
use rand::distributions::{Alphanumeric, DistString};
use redis::aio::ConnectionManager;
use redis::{RedisError, Script};

const UNLOCK: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end";

/// Clocks of the nodes may run apart by a hundredth of the TTL.
const DRIFT_FACTOR: f64 = 0.01;
const DRIFT_MIN: Duration = Duration::from_millis(2);

#[derive(Debug, thiserror::Error)]
pub enum QuorumError {
    #[error("no lock on {0} after {1} tries")]
    Busy(String, u32),
}

#[derive(Clone)]
pub struct QuorumLocker {
    nodes: Vec<ConnectionManager>,
    node_timeout: Duration,
}

#[derive(Debug)]
pub struct Granted {
    pub key: String,
    pub value: String,
    /// From now on, measured by our own monotonic clock.
    pub validity: Duration,
}

impl QuorumLocker {
    pub fn new(nodes: Vec<ConnectionManager>) -> Self {
        Self {
            nodes,
            node_timeout: Duration::from_millis(50),
        }
    }

    pub async fn lock(&self, key: &str, ttl: Duration, tries: u32) -> Result<Granted, QuorumError> {
        for attempt in 1..=tries {
            if let Some(granted) = self.attempt(key, ttl).await {
                return Ok(granted);
            }
            tracing::debug!(key, attempt, "no quorum");
            let pause = rand::random::<u64>() % 200;
            tokio::time::sleep(Duration::from_millis(50 + pause)).await;
        }
        Err(QuorumError::Busy(key.to_owned(), tries))
    }

    async fn attempt(&self, key: &str, ttl: Duration) -> Option<Granted> {
        let value = Alphanumeric.sample_string(&mut rand::thread_rng(), 24);
        let start = Instant::now();
        let answers = join_all(self.nodes.iter().cloned().map(|mut node| {
            let value = value.clone();
            async move {
                let mut cmd = redis::cmd("SET");
                cmd.arg(key)
                    .arg(value)
                    .arg("NX")
                    .arg("PX")
                    .arg(ttl.as_millis() as u64);
                let set = cmd.query_async::<Option<String>>(&mut node);
                matches!(
                    tokio::time::timeout(self.node_timeout, set).await,
                    Ok(Ok(Some(_)))
                )
            }
        }))
        .await;

        let votes = answers.into_iter().filter(|yes| *yes).count();
        let drift = ttl.mul_f64(DRIFT_FACTOR) + DRIFT_MIN;
        let validity = ttl
            .checked_sub(start.elapsed() + drift)
            .filter(|v| !v.is_zero());

        match validity {
            Some(validity) if votes >= self.nodes.len() / 2 => Some(Granted {
                key: key.to_owned(),
                value,
                validity,
            }),
            _ => {
                self.unlock_everywhere(key, &value).await;
                None
            }
        }
    }

    /// How many nodes still had the lock.
    pub async fn unlock(&self, granted: Granted) -> usize {
        self.unlock_everywhere(&granted.key, &granted.value).await
    }

    async fn unlock_everywhere(&self, key: &str, value: &str) -> usize {
        let script = Script::new(UNLOCK);
        let answers: Vec<Result<i64, RedisError>> =
            join_all(self.nodes.iter().cloned().map(|mut node| {
                let script = &script;
                async move { script.key(key).arg(value).invoke_async(&mut node).await }
            }))
            .await;
        answers.into_iter().filter(|a| matches!(a, Ok(1))).count()
    }
}
