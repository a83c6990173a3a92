use anyhow::Result;
use sqlx::MySqlPool;
use tokio::time::Instant;

use crate::turn::Turn;

pub enum Filed {
    All,
    TooSlow,
    Fenced,
}

pub async fn file_lines(
    db: &MySqlPool,
    source: &str,
    lines: &[String],
    turn: &Turn,
) -> Result<Filed> {
    let mut tx = db.begin().await?;
    let fenced = sqlx::query("UPDATE archive_source SET fence = ? WHERE source = ? AND fence < ?")
        .bind(turn.revision)
        .bind(source)
        .bind(turn.revision)
        .execute(&mut *tx)
        .await;
    match fenced {
        Ok(r) if r.rows_affected() == 1 => {}
        Ok(_) => {
            tx.rollback().await?;
            return Ok(Filed::Fenced);
        }
        Err(e) => {
            tx.rollback().await?;
            return Err(e.into());
        }
    }
    for chunk in lines.chunks(500) {
        if Instant::now() >= turn.deadline {
            tx.rollback().await?;
            return Ok(Filed::TooSlow);
        }
        let values = vec!["(?, ?)"; chunk.len()].join(", ");
        let sql = format!("INSERT INTO archive_entry (source, line) VALUES {values}");
        let mut insert = sqlx::query(&sql);
        for line in chunk {
            insert = insert.bind(source).bind(line);
        }
        if let Err(e) = insert.execute(&mut *tx).await {
            tx.rollback().await?;
            return Err(e.into());
        }
        tracing::debug!(source, n = chunk.len(), "filed");
    }
    tx.commit().await?;
    Ok(Filed::All)
}
