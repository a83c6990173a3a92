use fred::prelude::*;
use fred::types::SetOptions;
use uuid::Uuid;

use crate::Rooms;

static EXIT: &str = r#"
    if redis.call("get", KEYS[1]) == ARGV[1] then
        return redis.call("del", KEYS[1])
    end
    return 0
"#;

pub struct DrillRooms {
    pool: fred::clients::Pool,
}

impl DrillRooms {
    pub fn new(pool: fred::clients::Pool) -> Self {
        Self { pool }
    }
}

#[async_trait::async_trait]
impl Rooms for DrillRooms {
    type Error = Error;

    async fn enter(&self, room: &str) -> Result<Option<Uuid>, Error> {
        let class = Uuid::new_v4();
        let reply: Option<String> = self
            .pool
            .set(format!("room-lock:{room}"), class.to_string(), None, Some(SetOptions::NX), false)
            .await?;
        Ok(reply.map(|_| class))
    }

    async fn exit(&self, room: &str, class: Uuid) -> Result<bool, Error> {
        let n: i64 = self
            .pool
            .eval(EXIT, format!("room-lock:{room}"), class.to_string())
            .await?;
        Ok(n == 1)
    }
}
