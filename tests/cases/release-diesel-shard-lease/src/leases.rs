use diesel::dsl::{now, IntervalDsl};
use diesel::prelude::*;
use diesel::upsert::excluded;
use diesel_async::pooled_connection::deadpool::Pool;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use crate::schema::shard_leases;

#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    #[error(transparent)]
    Db(#[from] diesel::result::Error),
    #[error("no connection: {0}")]
    Pool(#[from] diesel_async::pooled_connection::deadpool::PoolError),
    #[error("shard {0} was taken over")]
    TakenOver(i32),
}

pub struct ShardLease {
    pool: Pool<AsyncPgConnection>,
    shard: i32,
    owner: Uuid,
}

impl ShardLease {
    pub async fn acquire(
        pool: &Pool<AsyncPgConnection>,
        shard: i32,
    ) -> Result<Option<Self>, LeaseError> {
        let owner = Uuid::new_v4();
        let mut conn = pool.get().await?;
        let taken = diesel::insert_into(shard_leases::table)
            .values((
                shard_leases::shard.eq(shard),
                shard_leases::owner.eq(owner),
                shard_leases::expires_at.eq(now + 30.seconds()),
            ))
            .on_conflict(shard_leases::shard)
            .do_update()
            .set((
                shard_leases::owner.eq(excluded(shard_leases::owner)),
                shard_leases::expires_at.eq(excluded(shard_leases::expires_at)),
            ))
            .filter(shard_leases::expires_at.lt(now))
            .execute(&mut conn)
            .await?;
        Ok((taken == 1).then(|| ShardLease {
            pool: pool.clone(),
            shard,
            owner,
        }))
    }

    pub async fn extend(&self) -> Result<(), LeaseError> {
        let mut conn = self.pool.get().await?;
        let mine = shard_leases::table
            .filter(shard_leases::shard.eq(self.shard))
            .filter(shard_leases::owner.eq(self.owner));
        let hit = diesel::update(mine)
            .set(shard_leases::expires_at.eq(now + 30.seconds()))
            .execute(&mut conn)
            .await?;
        if hit == 1 {
            Ok(())
        } else {
            Err(LeaseError::TakenOver(self.shard))
        }
    }

    pub async fn release(self) -> Result<(), LeaseError> {
        let mut conn = self.pool.get().await?;
        let owner: Option<Uuid> = shard_leases::table
            .find(self.shard)
            .select(shard_leases::owner)
            .first(&mut conn)
            .await
            .optional()?;
        if owner == Some(self.owner) {
            diesel::delete(shard_leases::table.find(self.shard))
                .execute(&mut conn)
                .await?;
            tracing::debug!(shard = self.shard, "lease returned");
            return Ok(());
        }
        Err(LeaseError::TakenOver(self.shard))
    }
}
