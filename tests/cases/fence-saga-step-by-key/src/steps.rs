use diesel::prelude::*;
use diesel::sql_types;
use diesel_async::pooled_connection::bb8::Pool;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use crate::schema::saga_steps;

#[derive(Debug, thiserror::Error)]
pub enum StepError {
    #[error(transparent)]
    Db(#[from] diesel::result::Error),
    #[error("pool: {0}")]
    Pool(String),
    #[error("no such step")]
    Unknown,
}

#[derive(Debug, QueryableByName)]
pub struct Step {
    #[diesel(sql_type = sql_types::Uuid)]
    pub saga: Uuid,
    #[diesel(sql_type = sql_types::Integer)]
    pub number: i32,
    #[diesel(sql_type = sql_types::Text)]
    pub action: String,
}

#[derive(AsChangeset)]
#[diesel(table_name = saga_steps)]
pub struct Outcome {
    pub state: String,
    pub result: Option<serde_json::Value>,
}

const CLAIM: &str = "\
    UPDATE saga_steps SET state = 'running', claimed_by = $1, \
           claimed_until = now() + interval '2 minutes' \
     WHERE (saga, number) = ( \
           SELECT saga, number FROM saga_steps \
            WHERE state = 'waiting' OR (state = 'running' AND claimed_until < now()) \
            ORDER BY saga, number LIMIT 1 FOR UPDATE SKIP LOCKED) \
    RETURNING saga, number, action";

#[derive(Clone)]
pub struct Steps {
    pool: Pool<AsyncPgConnection>,
}

impl Steps {
    pub async fn claim(&self) -> Result<Option<Step>, StepError> {
        let mut conn = self
            .pool
            .get()
            .await
            .map_err(|e| StepError::Pool(e.to_string()))?;
        Ok(diesel::sql_query(CLAIM)
            .bind::<sql_types::Uuid, _>(Uuid::new_v4())
            .get_result(&mut conn)
            .await
            .optional()?)
    }

    pub async fn record(&self, step: &Step, outcome: &Outcome) -> Result<(), StepError> {
        let mut conn = self
            .pool
            .get()
            .await
            .map_err(|e| StepError::Pool(e.to_string()))?;
        let n = diesel::update(saga_steps::table.find((step.saga, step.number)))
            .set(outcome)
            .execute(&mut conn)
            .await?;
        if n == 0 {
            return Err(StepError::Unknown);
        }
        Ok(())
    }
}
