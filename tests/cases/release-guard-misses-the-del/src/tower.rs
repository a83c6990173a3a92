use redis::aio::ConnectionManager;
use redis::{ExistenceCheck, RedisResult, Script, SetExpiry, SetOptions, AsyncCommands};
use uuid::Uuid;

use crate::scripts::{CLEAR_RUNWAY, HOLD_RUNWAY};

const CLEARANCE_MS: u64 = 60_000;

pub struct Tower {
    link: ConnectionManager,
    clear: Script,
    hold: Script,
}

/// A runway is cleared for one flight.
pub struct Clearance {
    runway: String,
    id: Uuid,
}

impl Tower {
    pub fn new(link: ConnectionManager) -> Self {
        Self {
            link,
            clear: Script::new(CLEAR_RUNWAY),
            hold: Script::new(HOLD_RUNWAY),
        }
    }

    pub async fn request(&self, runway: &str) -> RedisResult<Option<Clearance>> {
        let id = Uuid::new_v4();
        let opts = SetOptions::default()
            .conditional_set(ExistenceCheck::NX)
            .with_expiration(SetExpiry::PX(CLEARANCE_MS));
        let ok: Option<String> = self
            .link
            .clone()
            .set_options(format!("runway:{runway}:cleared"), id.to_string(), opts)
            .await?;
        Ok(ok.map(|_| Clearance {
            runway: runway.to_owned(),
            id,
        }))
    }

    pub async fn extend(&self, c: &Clearance) -> RedisResult<bool> {
        self.hold
            .key(format!("runway:{}:cleared", c.runway))
            .arg(c.id.to_string())
            .arg(CLEARANCE_MS)
            .invoke_async(&mut self.link.clone())
            .await
    }

    pub async fn landed(&self, c: Clearance) -> RedisResult<bool> {
        self.clear
            .key(format!("runway:{}:cleared", c.runway))
            .key("runway:stats")
            .arg(c.id.to_string())
            .invoke_async(&mut self.link.clone())
            .await
    }
}
