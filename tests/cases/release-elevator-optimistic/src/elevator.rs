use r2d2::Pool;
use redis::{Client, Commands};
use uuid::Uuid;

const RIDE_MS: u64 = 25_000;

pub struct Elevator {
    pool: Pool<Client>,
    shaft: String,
}

/// While it lasts, the maintenance robot of this process may use the shaft.
pub struct Ride {
    id: String,
}

impl Elevator {
    pub fn new(pool: Pool<Client>, shaft: u8) -> Self {
        Self {
            pool,
            shaft: format!("building:shaft:{shaft}:robot"),
        }
    }

    pub fn enter(&self) -> anyhow::Result<Option<Ride>> {
        let mut con = self.pool.get()?;
        let id = Uuid::new_v4().to_string();
        let entered: Option<String> = redis::cmd("SET")
            .arg(&self.shaft)
            .arg(&id)
            .arg("PX")
            .arg(RIDE_MS)
            .arg("NX")
            .query(&mut *con)?;
        Ok(entered.map(|_| Ride { id }))
    }

    /// True when the shaft was still ours and is free now.
    pub fn leave(&self, ride: Ride) -> anyhow::Result<bool> {
        let mut con = self.pool.get()?;
        let shaft = self.shaft.as_str();
        let ours = redis::transaction(&mut *con, &[shaft], |con, pipe| {
            let inside: Option<String> = con.get(shaft)?;
            if inside.as_deref() == Some(ride.id.as_str()) {
                // nil, and so another round, when the key was touched since WATCH
                let done: Option<(i64,)> = pipe.del(shaft).query(con)?;
                return Ok(done.map(|(n,)| n == 1));
            }
            Ok(Some(false))
        })?;
        Ok(ours)
    }
}
