use r2d2::Pool;
use redis::{Client, Commands, ExistenceCheck, SetExpiry, SetOptions};
use uuid::Uuid;

#[derive(Debug, thiserror::Error)]
pub enum LockerError {
    #[error(transparent)]
    Pool(#[from] r2d2::Error),
    #[error(transparent)]
    Redis(#[from] redis::RedisError),
}

/// Parcel lockers: while a courier fills a compartment, nobody else is told to use it.
pub struct Lockers {
    pool: Pool<Client>,
}

impl Lockers {
    pub fn new(pool: Pool<Client>) -> Self {
        Self { pool }
    }

    pub fn reserve(&self, station: &str, compartment: u8) -> Result<Option<Uuid>, LockerError> {
        let mut c = self.pool.get()?;
        let pin = Uuid::new_v4();
        let opts = SetOptions::default()
            .conditional_set(ExistenceCheck::NX)
            .with_expiration(SetExpiry::EX(180));
        let ok: Option<String> = c.set_options(compartment_key(station, compartment), pin.to_string(), opts)?;
        Ok(ok.map(|_| pin))
    }

    pub fn give_up(&self, station: &str, compartment: u8, pin: Uuid) -> Result<bool, LockerError> {
        let mut c = self.pool.get()?;
        let key = compartment_key(station, compartment);
        let reserved_for: Option<String> = c.get(&key)?;
        let mine = reserved_for.is_some_and(|p| p == pin.to_string());
        if mine {
            // gone at once
            let _: bool = c.expire(&key, 0)?;
        }
        Ok(mine)
    }
}

fn compartment_key(station: &str, compartment: u8) -> String {
    format!("locker:{station}:{compartment}:reserved")
}
