use bb8::{Pool, RunError};
use bb8_redis::redis::{self, RedisError};
use bb8_redis::RedisConnectionManager;
use uuid::Uuid;

use crate::lua;

const LIFT_MS: u64 = 30_000;

#[derive(Debug, thiserror::Error)]
pub enum CraneError {
    #[error(transparent)]
    Pool(#[from] RunError<RedisError>),
    #[error(transparent)]
    Redis(#[from] RedisError),
    #[error("the crane swings for somebody else")]
    Busy,
}

pub struct Lift {
    crane: String,
    id: String,
}

pub struct Yard {
    pool: Pool<RedisConnectionManager>,
}

impl Yard {
    pub async fn lift(&self, crane: u32) -> Result<Lift, CraneError> {
        let lift = Lift {
            crane: format!("yard:crane:{crane}"),
            id: Uuid::new_v4().to_string(),
        };
        let mut c = self.pool.get().await?;
        let reply: redis::Value = redis::cmd("SET")
            .arg(&lift.crane)
            .arg(&lift.id)
            .arg("NX")
            .arg("PX")
            .arg(LIFT_MS)
            .query_async(&mut *c)
            .await?;
        match reply {
            redis::Value::Okay => Ok(lift),
            _ => Err(CraneError::Busy),
        }
    }

    pub async fn prolong(&self, lift: &Lift) -> Result<bool, CraneError> {
        let mut c = self.pool.get().await?;
        let n: i64 = redis::cmd("EVAL")
            .arg(lua::PROLONG)
            .arg(1)
            .arg(&lift.crane)
            .arg(&lift.id)
            .arg(LIFT_MS)
            .query_async(&mut *c)
            .await?;
        Ok(n > 0)
    }

    pub async fn set_down(&self, lift: Lift) -> Result<bool, CraneError> {
        let mut c = self.pool.get().await?;
        let n: i64 = redis::cmd("EVAL")
            .arg(lua::DELETE)
            .arg(1)
            .arg(&lift.crane)
            .arg(&lift.id)
            .query_async(&mut *c)
            .await?;
        Ok(n > 0)
    }
}
