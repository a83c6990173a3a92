use diesel::dsl::now;
use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel::r2d2::{ConnectionManager, Pool};
use uuid::Uuid;

use crate::schema::imports;

#[derive(Queryable, Selectable)]
#[diesel(table_name = imports)]
pub struct Import {
    pub id: i64,
    pub url: String,
}

pub struct Importer {
    pool: Pool<ConnectionManager<PgConnection>>,
}

impl Importer {
    pub fn new(pool: Pool<ConnectionManager<PgConnection>>) -> Self {
        Self { pool }
    }

    /// The next import for this runner, if one waits.
    pub fn next(&self, runner: Uuid) -> Result<Option<Import>, Box<dyn std::error::Error>> {
        let mut conn = self.pool.get()?;
        let waiting = imports::table
            .filter(imports::state.eq("queued"))
            .order(imports::id.asc())
            .select(Import::as_select())
            .first(&mut conn)
            .optional()?;
        let Some(import) = waiting else {
            return Ok(None);
        };
        diesel::update(imports::table.find(import.id))
            .set((
                imports::state.eq("running"),
                imports::runner.eq(runner),
                imports::started_at.eq(now),
            ))
            .execute(&mut conn)?;
        Ok(Some(import))
    }

    pub fn finish(&self, id: i64, runner: Uuid) -> Result<bool, Box<dyn std::error::Error>> {
        let mut conn = self.pool.get()?;
        let mine = imports::table
            .filter(imports::id.eq(id))
            .filter(imports::runner.eq(runner))
            .filter(imports::state.eq("running"));
        let n = diesel::update(mine).set(imports::state.eq("done")).execute(&mut conn)?;
        Ok(n == 1)
    }
}
