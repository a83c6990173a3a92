use serde_json::{json, Value};
use sqlx::{PgPool, Postgres, Transaction};
use uuid::Uuid;

pub struct Notes {
    pool: PgPool,
}

async fn audit(tx: &mut Transaction<'_, Postgres>, note: Uuid, actor: Uuid, action: &str, detail: Value) -> sqlx::Result<()> {
    sqlx::query("INSERT INTO audit (note, actor, action, detail) VALUES ($1, $2, $3, $4)")
        .bind(note)
        .bind(actor)
        .bind(action)
        .bind(detail)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

impl Notes {
    pub async fn write(&self, actor: Uuid, note: Uuid, text: &str) -> sqlx::Result<()> {
        let mut tx = self.pool.begin().await?;
        sqlx::query("UPDATE notes SET text = $2, updated_at = now() WHERE id = $1")
            .bind(note)
            .bind(text)
            .execute(&mut *tx)
            .await?;
        audit(&mut tx, note, actor, "write", json!({ "length": text.len() })).await?;
        tx.commit().await
    }

    pub async fn close(&self, actor: Uuid, note: Uuid) -> sqlx::Result<()> {
        let mut tx = self.pool.begin().await?;
        sqlx::query("UPDATE notes SET status = 'closed' WHERE id = $1")
            .bind(note)
            .execute(&mut *tx)
            .await?;
        audit(&mut tx, note, actor, "close", Value::Null).await?;
        tx.commit().await
    }

    pub async fn delete(&self, actor: Uuid, note: Uuid) -> sqlx::Result<()> {
        let mut tx = self.pool.begin().await?;
        sqlx::query("UPDATE notes SET deleted_at = now() WHERE id = $1 AND deleted_at IS NULL")
            .bind(note)
            .execute(&mut *tx)
            .await?;
        audit(&mut tx, note, actor, "delete", Value::Null).await?;
        tx.commit().await
    }

    /// Really removes what was deleted long ago.
    pub async fn purge(&self) -> sqlx::Result<u64> {
        let r = sqlx::query("DELETE FROM notes WHERE deleted_at < now() - interval '90 days'")
            .execute(&self.pool)
            .await?;
        Ok(r.rows_affected())
    }
}
