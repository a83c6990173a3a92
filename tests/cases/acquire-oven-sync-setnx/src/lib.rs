use r2d2::{Pool, PooledConnection};
use redis::{Client, Script};
use uuid::Uuid;

#[derive(Debug, thiserror::Error)]
pub enum BakeryError {
    #[error(transparent)]
    Pool(#[from] r2d2::Error),
    #[error(transparent)]
    Redis(#[from] redis::RedisError),
}

const BAKE_MS: u64 = 300_000;

pub struct Bakery {
    pool: Pool<Client>,
}

impl Bakery {
    fn lend<T>(&self, f: impl FnOnce(&mut PooledConnection<Client>) -> redis::RedisResult<T>) -> Result<T, BakeryError> {
        let mut c = self.pool.get()?;
        Ok(f(&mut c)?)
    }

    /// Two recipes in one oven would spoil each other.
    pub fn load_oven(&self, oven: u8) -> Result<Option<Uuid>, BakeryError> {
        let recipe = Uuid::new_v4();
        let name = format!("oven/{oven}/in-use");
        let loaded = self.lend(|c| {
            let first: i64 = redis::cmd("SETNX").arg(&name).arg(recipe.to_string()).query(c)?;
            if first == 1 {
                redis::cmd("PEXPIRE").arg(&name).arg(BAKE_MS).query::<i64>(c)?;
            }
            Ok(first == 1)
        })?;
        Ok(loaded.then_some(recipe))
    }

    pub fn empty_oven(&self, oven: u8, recipe: Uuid) -> Result<bool, BakeryError> {
        let name = format!("oven/{oven}/in-use");
        self.lend(|c| {
            Script::new("return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0")
                .key(&name)
                .arg(recipe.to_string())
                .invoke(c)
        })
    }
}
