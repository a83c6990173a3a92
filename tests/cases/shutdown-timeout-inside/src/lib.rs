mod filing;
mod turn;

use anyhow::{Result, anyhow};
use etcd_client::Client;
use sqlx::MySqlPool;

use filing::Filed;
use turn::Turn;

/// Files the log lines of one source.
pub async fn archive(
    etcd: &mut Client,
    db: &MySqlPool,
    node: &str,
    source: &str,
    lines: &[String],
) -> Result<bool> {
    let Some(turn) = Turn::take(etcd, node, source).await? else {
        return Ok(false);
    };
    let filed = filing::file_lines(db, source, lines, &turn).await;
    turn.give_back(etcd).await?;
    match filed? {
        Filed::All => Ok(true),
        Filed::TooSlow => Err(anyhow!("{source}: not filed within the lease")),
        Filed::Fenced => Err(anyhow!("{source}: a later turn has begun")),
    }
}
