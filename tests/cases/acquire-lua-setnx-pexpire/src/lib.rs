use deadpool_redis::redis::Script;
use deadpool_redis::Pool;
use uuid::Uuid;

const DOCK: &str = include_str!("../scripts/dock.lua");
const UNDOCK: &str = include_str!("../scripts/undock.lua");
const DOCKED_MS: u64 = 35_000;

/// A probe at a docking port, with the number of this docking.
pub struct Docked {
    port: u8,
    probe: Uuid,
    pub nr: i64,
}

#[derive(Clone)]
pub struct Station {
    pool: Pool,
}

impl Station {
    pub fn new(pool: Pool) -> Self {
        Self { pool }
    }

    pub async fn dock(&self, port: u8) -> anyhow::Result<Option<Docked>> {
        let probe = Uuid::new_v4();
        let mut c = self.pool.get().await?;
        let nr: i64 = Script::new(DOCK)
            .key(format!("station:port:{port}"))
            .key(format!("station:port:{port}:nr"))
            .arg(probe.to_string())
            .arg(DOCKED_MS)
            .invoke_async(&mut c)
            .await?;
        Ok((nr >= 0).then_some(Docked { port, probe, nr }))
    }

    pub async fn undock(&self, d: Docked) -> anyhow::Result<bool> {
        let mut c = self.pool.get().await?;
        let n: i64 = Script::new(UNDOCK)
            .key(format!("station:port:{}", d.port))
            .arg(d.probe.to_string())
            .invoke_async(&mut c)
            .await?;
        Ok(n == 1)
    }
}
