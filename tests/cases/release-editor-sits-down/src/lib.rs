use deadpool_postgres::Pool;
use uuid::Uuid;

#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error(transparent)]
    Pool(#[from] deadpool_postgres::PoolError),
    #[error(transparent)]
    Pg(#[from] tokio_postgres::Error),
    #[error("another session edits document {0}")]
    Taken(i64),
    #[error("the session no longer edits document {0}")]
    Over(i64),
}

const SIT: &str = "INSERT INTO editing (document_id, editor_session, expires_at) \
    VALUES ($1, $2, now() + interval '2 minutes') \
    ON CONFLICT (document_id) DO UPDATE \
    SET editor_session = EXCLUDED.editor_session, expires_at = EXCLUDED.expires_at \
    WHERE editing.expires_at < now()";
const STAY: &str = "UPDATE editing SET expires_at = now() + interval '2 minutes' \
    WHERE document_id = $1 AND editor_session = $2 AND expires_at > now()";
const STAND_UP: &str = "DELETE FROM editing WHERE document_id = $1 AND editor_session = $2";

pub struct Desk {
    pool: Pool,
}

impl Desk {
    async fn exec(&self, sql: &str, doc: i64, session: Uuid) -> Result<u64, EditError> {
        let db = self.pool.get().await?;
        Ok(db.execute(sql, &[&doc, &session]).await?)
    }

    pub async fn sit(&self, doc: i64) -> Result<Uuid, EditError> {
        let session = Uuid::new_v4();
        match self.exec(SIT, doc, session).await? {
            1 => Ok(session),
            _ => Err(EditError::Taken(doc)),
        }
    }

    pub async fn stay(&self, doc: i64, session: Uuid) -> Result<(), EditError> {
        match self.exec(STAY, doc, session).await? {
            1 => Ok(()),
            _ => Err(EditError::Over(doc)),
        }
    }

    pub async fn stand_up(&self, doc: i64, session: Uuid) -> Result<(), EditError> {
        match self.exec(STAND_UP, doc, session).await? {
            1 => Ok(()),
            _ => Err(EditError::Over(doc)),
        }
    }
}
