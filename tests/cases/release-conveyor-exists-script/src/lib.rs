use fred::prelude::*;
use fred::types::{Expiration, SetOptions};
use uuid::Uuid;

const HAND_BACK: &str = include_str!("hand_back.lua");
const SHIFT_MS: i64 = 120_000;

/// The conveyor lines of a plant; one operator works a line at a time.
#[derive(Clone)]
pub struct Plant {
    redis: Client,
    plant: String,
}

impl Plant {
    pub fn new(redis: Client, plant: impl Into<String>) -> Self {
        Self {
            redis,
            plant: plant.into(),
        }
    }

    fn operator_key(&self, line: u32) -> String {
        format!("{}:line:{}:operator", self.plant, line)
    }

    fn waiters_key(&self, line: u32) -> String {
        format!("{}:line:{}:waiting", self.plant, line)
    }

    pub async fn take_line(&self, line: u32) -> Result<Option<Uuid>, Error> {
        let badge = Uuid::new_v4();
        let taken: Option<String> = self
            .redis
            .set(
                self.operator_key(line),
                badge.to_string(),
                Some(Expiration::PX(SHIFT_MS)),
                Some(SetOptions::NX),
                false,
            )
            .await?;
        Ok(taken.map(|_| badge))
    }

    pub async fn leave_line(&self, line: u32) -> Result<bool, Error> {
        let keys = vec![self.operator_key(line), self.waiters_key(line)];
        let n: i64 = self.redis.eval(HAND_BACK, keys, Vec::<String>::new()).await?;
        Ok(n == 1)
    }
}
