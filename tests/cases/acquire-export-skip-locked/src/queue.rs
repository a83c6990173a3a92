use diesel::dsl::now;
use diesel::prelude::*;
use diesel_async::pooled_connection::bb8::Pool;
use diesel_async::scoped_futures::ScopedFutureExt;
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};

use crate::schema::exports::dsl;

#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    #[error(transparent)]
    Diesel(#[from] diesel::result::Error),
    #[error("pool: {0}")]
    Pool(String),
    #[error("attempt {attempt} of export {id} is over")]
    Superseded { id: i64, attempt: i64 },
}

#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = crate::schema::exports)]
#[diesel(check_for_backend(diesel::pg::Pg))]
pub struct Export {
    pub id: i64,
    pub report: String,
    pub attempt: i64,
}

pub struct Queue {
    pool: Pool<AsyncPgConnection>,
}

impl Queue {
    pub async fn pick(&self, limit: i64) -> Result<Vec<Export>, QueueError> {
        let mut conn = self
            .pool
            .get()
            .await
            .map_err(|e| QueueError::Pool(e.to_string()))?;
        conn.transaction(|conn| {
            async move {
                let ids: Vec<i64> = dsl::exports
                    .filter(dsl::state.eq("pending"))
                    .order(dsl::id.asc())
                    .limit(limit)
                    .select(dsl::id)
                    .for_update()
                    .skip_locked()
                    .load(conn)
                    .await?;
                let picked = diesel::update(dsl::exports.filter(dsl::id.eq_any(ids)))
                    .set((
                        dsl::state.eq("running"),
                        dsl::attempt.eq(dsl::attempt + 1),
                        dsl::started_at.eq(now.nullable()),
                    ))
                    .returning(Export::as_returning())
                    .get_results(conn)
                    .await?;
                Ok(picked)
            }
            .scope_boxed()
        })
        .await
    }

    pub async fn finish(&self, export: &Export, url: &str) -> Result<(), QueueError> {
        let mut conn = self
            .pool
            .get()
            .await
            .map_err(|e| QueueError::Pool(e.to_string()))?;
        let hit = diesel::update(dsl::exports)
            .filter(dsl::id.eq(export.id))
            .filter(dsl::attempt.eq(export.attempt))
            .filter(dsl::state.eq("running"))
            .set((dsl::state.eq("done"), dsl::url.eq(url)))
            .execute(&mut conn)
            .await?;
        if hit == 0 {
            return Err(QueueError::Superseded {
                id: export.id,
                attempt: export.attempt,
            });
        }
        Ok(())
    }

    /// Puts exports back whose worker has been silent for an hour.
    pub async fn requeue_stuck(&self) -> Result<usize, QueueError> {
        use diesel::dsl::IntervalDsl;
        let mut conn = self
            .pool
            .get()
            .await
            .map_err(|e| QueueError::Pool(e.to_string()))?;
        let back = diesel::update(
            dsl::exports
                .filter(dsl::state.eq("running"))
                .filter(dsl::started_at.lt((now - 1.hour()).nullable())),
        )
        .set(dsl::state.eq("pending"))
        .execute(&mut conn)
        .await?;
        tracing::info!(back, "stuck exports put back");
        Ok(back)
    }
}
