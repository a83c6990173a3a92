use std::path::PathBuf;

use anyhow::Context;
use sqlx::postgres::PgConnectOptions;
use sqlx::Connection;

use crate::session::ShardSession;

pub struct Archiver {
    options: PgConnectOptions,
    dir: PathBuf,
}

impl Archiver {
    pub fn new(options: PgConnectOptions, dir: PathBuf) -> Self {
        Archiver { options, dir }
    }

    pub async fn run(&self, shard: i16) -> anyhow::Result<Option<u64>> {
        let Some(mut session) = ShardSession::open(&self.options, shard).await? else {
            return Ok(None);
        };
        let archived = self.archive(&mut session).await;
        session.close().await?;
        archived.map(Some)
    }

    async fn archive(&self, session: &mut ShardSession) -> anyhow::Result<u64> {
        let shard = session.shard();
        let mut tx = session.conn().begin().await?;
        let from: i64 =
            sqlx::query_scalar("SELECT archived_to FROM archive_state WHERE shard = $1")
                .bind(shard)
                .fetch_one(&mut *tx)
                .await
                .context("state of the shard")?;
        let rows: Vec<(i64, String)> = sqlx::query_as(
            "SELECT id, body FROM messages WHERE id > $1 AND id % 16 = $2 ORDER BY id LIMIT 1000",
        )
        .bind(from)
        .bind(i64::from(shard))
        .fetch_all(&mut *tx)
        .await?;
        let Some(to) = rows.last().map(|(id, _)| *id) else {
            tx.rollback().await?;
            return Ok(0);
        };

        let text: Vec<String> = rows
            .iter()
            .map(|(id, body)| format!("{id}\t{body}"))
            .collect();
        std::fs::write(self.dir.join(format!("{shard}-{to}.tsv")), text.join("\n"))?;

        sqlx::query(
            "UPDATE messages SET archived = TRUE WHERE id > $1 AND id <= $2 AND id % 16 = $3",
        )
        .bind(from)
        .bind(to)
        .bind(i64::from(shard))
        .execute(&mut *tx)
        .await?;
        sqlx::query("UPDATE archive_state SET archived_to = $2 WHERE shard = $1")
            .bind(shard)
            .bind(to)
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        tracing::info!(shard, rows = rows.len(), "archived");
        Ok(rows.len() as u64)
    }
}
