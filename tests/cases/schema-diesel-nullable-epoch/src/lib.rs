mod schema;

use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel_migrations::{embed_migrations, EmbeddedMigrations, MigrationHarness};

use schema::greenhouses::dsl::*;

pub const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations");

pub fn migrate(db: &mut PgConnection) -> anyhow::Result<()> {
    db.run_pending_migrations(MIGRATIONS).map_err(|e| anyhow::anyhow!(e))?;
    Ok(())
}

/// Shades a greenhouse for the gardener whose lease has the epoch `epoch`.
pub fn set_shade(db: &mut PgConnection, house: i64, percent: i16, epoch: i64) -> anyhow::Result<()> {
    let n = diesel::update(greenhouses.filter(id.eq(house).and(fence_epoch.lt(epoch))))
        .set((shade.eq(percent), fence_epoch.eq(epoch)))
        .execute(db)?;
    anyhow::ensure!(n == 1, "greenhouse {house} is under a later epoch");
    Ok(())
}
