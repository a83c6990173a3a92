use std::sync::LazyLock;

use redis::aio::MultiplexedConnection;
use redis::{RedisResult, Script};
use uuid::Uuid;

static PLUG_IN: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("lua/plug_in.lua")));
static KEEP: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("lua/keep.lua")));
static PLUG_OUT: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("lua/plug_out.lua")));

const SILENCE_MS: u32 = 90_000;

pub struct Charger {
    id: String,
}

impl Charger {
    pub fn new(id: &str) -> Self {
        Self { id: format!("charger:{id}:busy") }
    }

    pub async fn plug_in(&self, c: &mut MultiplexedConnection) -> RedisResult<Option<Uuid>> {
        let session = Uuid::new_v4();
        let n: i64 = PLUG_IN
            .key(&self.id)
            .arg(session.to_string())
            .arg(SILENCE_MS)
            .invoke_async(c)
            .await?;
        Ok((n == 1).then_some(session))
    }

    /// False when the session has ended and another car may be plugged in.
    pub async fn keep(&self, c: &mut MultiplexedConnection, session: Uuid) -> RedisResult<bool> {
        KEEP.key(&self.id)
            .arg(session.to_string())
            .arg(SILENCE_MS)
            .invoke_async(c)
            .await
    }

    pub async fn plug_out(&self, c: &mut MultiplexedConnection, session: Uuid) -> RedisResult<bool> {
        let n: i64 = PLUG_OUT.key(&self.id).arg(session.to_string()).invoke_async(c).await?;
        Ok(n == 1)
    }
}
