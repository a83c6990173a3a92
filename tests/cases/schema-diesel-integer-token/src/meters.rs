use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel::r2d2::{ConnectionManager, Pool};

use crate::schema::meters;

#[derive(Debug, thiserror::Error)]
pub enum MeterError {
    #[error(transparent)]
    Db(#[from] diesel::result::Error),
    #[error(transparent)]
    Pool(#[from] diesel::r2d2::PoolError),
    #[error("meter {id}: the collector with token {token} is not the newest")]
    Superseded { id: i64, token: i32 },
}

#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = meters)]
pub struct Meter {
    pub id: i64,
    pub serial: String,
    pub reading: i64,
}

#[derive(Clone)]
pub struct Meters {
    pool: Pool<ConnectionManager<PgConnection>>,
}

impl Meters {
    pub fn new(pool: Pool<ConnectionManager<PgConnection>>) -> Self {
        Meters { pool }
    }

    pub fn by_serial(&self, serial: &str) -> Result<Option<Meter>, MeterError> {
        let mut conn = self.pool.get()?;
        Ok(meters::table
            .filter(meters::serial.eq(serial))
            .select(Meter::as_select())
            .first(&mut conn)
            .optional()?)
    }

    /// Stores what the collector of this meter's district has read.
    pub fn store(&self, id: i64, reading: i64, token: i32) -> Result<(), MeterError> {
        let mut conn = self.pool.get()?;
        let hit = diesel::update(meters::table)
            .filter(meters::id.eq(id))
            .filter(meters::fencing_token.lt(token))
            .set((meters::reading.eq(reading), meters::fencing_token.eq(token)))
            .execute(&mut conn)?;
        match hit {
            1 => Ok(()),
            _ => Err(MeterError::Superseded { id, token }),
        }
    }
}
