use std::time::Duration;

use r2d2::Pool;
use redis::{Client, Commands, ExistenceCheck, RedisResult, Script, SetExpiry, SetOptions};
use uuid::Uuid;

const AWAY: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end";

/// Names the one who looks through a telescope.
fn observer() -> String {
    let host = hostname::get().unwrap_or_default();
    format!("{}:{}:{}", host.to_string_lossy(), std::process::id(), Uuid::new_v4().simple())
}

fn seconds(d: Duration) -> u64 {
    d.as_secs().max(1)
}

pub struct Observatory {
    pool: Pool<Client>,
    night: Duration,
}

impl Observatory {
    pub fn new(pool: Pool<Client>, night: Duration) -> Self {
        Self { pool, night }
    }

    fn eyepiece(telescope: &str) -> String {
        ["observatory", telescope, "eyepiece"].join(":")
    }

    /// An unreachable store means that nobody observes.
    pub fn look(&self, telescope: &str) -> Option<String> {
        let me = observer();
        let got = self.try_look(telescope, &me).unwrap_or(false);
        got.then_some(me)
    }

    fn try_look(&self, telescope: &str, me: &str) -> Result<bool, Box<dyn std::error::Error>> {
        let mut c = self.pool.get()?;
        let opts = SetOptions::default()
            .conditional_set(ExistenceCheck::NX)
            .with_expiration(SetExpiry::EX(seconds(self.night)));
        let reply: Option<String> = c.set_options(Self::eyepiece(telescope), me, opts)?;
        Ok(reply.as_deref() == Some("OK"))
    }

    pub fn step_away(&self, telescope: &str, me: &str) -> Result<bool, Box<dyn std::error::Error>> {
        let mut c = self.pool.get()?;
        let n: RedisResult<i64> = Script::new(AWAY).key(Self::eyepiece(telescope)).arg(me).invoke(&mut *c);
        Ok(n? == 1)
    }
}
