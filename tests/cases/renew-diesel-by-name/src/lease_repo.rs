use anyhow::Result;
use diesel::dsl::{IntervalDsl, now};
use diesel::prelude::*;
use diesel_async::pooled_connection::bb8;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use crate::schema::leases;

pub type Pool = bb8::Pool<AsyncPgConnection>;

pub struct LeaseRepo {
    pool: Pool,
}

impl LeaseRepo {
    pub fn new(pool: Pool) -> Self {
        Self { pool }
    }

    pub async fn take(&self, name: &str, me: Uuid) -> Result<bool> {
        let mut db = self.pool.get().await?;
        let taken = diesel::update(leases::table)
            .filter(leases::name.eq(name))
            .filter(leases::valid_until.lt(now))
            .set((
                leases::holder.eq(me),
                leases::valid_until.eq(now + 45.seconds()),
            ))
            .execute(&mut db)
            .await?;
        if taken == 1 {
            return Ok(true);
        }
        let fresh = diesel::insert_into(leases::table)
            .values((
                leases::name.eq(name),
                leases::holder.eq(me),
                leases::valid_until.eq(now + 45.seconds()),
            ))
            .on_conflict_do_nothing()
            .execute(&mut db)
            .await?;
        Ok(fresh == 1)
    }

    pub async fn prolong(&self, name: &str) -> Result<bool> {
        let mut db = self.pool.get().await?;
        let n = diesel::update(leases::table)
            .filter(leases::name.eq(name))
            .filter(leases::valid_until.ge(now))
            .set(leases::valid_until.eq(now + 45.seconds()))
            .execute(&mut db)
            .await?;
        Ok(n == 1)
    }

    pub async fn give_back(&self, name: &str, me: Uuid) -> Result<bool> {
        let mut db = self.pool.get().await?;
        let n = diesel::delete(leases::table)
            .filter(leases::name.eq(name))
            .filter(leases::holder.eq(me))
            .execute(&mut db)
            .await?;
        Ok(n == 1)
    }
}
