mod sample_lock;

use std::path::PathBuf;

use anyhow::{Context, Result};
use deadpool_postgres::Pool;
use redis::aio::ConnectionManager;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio_util::sync::CancellationToken;

use sample_lock::SampleLock;

pub struct Importer {
    pub db: Pool,
    pub redis: ConnectionManager,
    /// Cancelled on SIGTERM.
    pub shutdown: CancellationToken,
}

impl Importer {
    /// Imports one VCF file; false when it was not our turn or we had to stop.
    pub async fn import(&self, sample: &str, vcf: PathBuf) -> Result<bool> {
        let Some(lock) = SampleLock::acquire(self.redis.clone(), sample).await? else {
            return Ok(false);
        };
        let mut load = tokio::spawn(load_file(self.db.clone(), sample.to_owned(), vcf));

        let result = tokio::select! {
            r = &mut load => r.context("loader panicked").and_then(|r| r).map(|_| true),
            e = lock.keep() => {
                load.abort();
                Err(e)
            }
            _ = self.shutdown.cancelled() => {
                tracing::info!(sample, "import cut off");
                load.abort();
                Ok(false)
            }
        };

        if !lock.release().await? {
            tracing::warn!(sample, "sample lock had run out");
        }
        result
    }
}

async fn load_file(db: Pool, sample: String, vcf: PathBuf) -> Result<u64> {
    let mut lines = BufReader::new(tokio::fs::File::open(&vcf).await?).lines();
    let mut client = db.get().await?;
    let tx = client.transaction().await?;
    let insert = tx
        .prepare(
            "INSERT INTO variant (sample, chromosome, position, change) VALUES ($1, $2, $3, $4)",
        )
        .await?;
    let mut n = 0;
    while let Some(line) = lines.next_line().await? {
        if line.starts_with('#') {
            continue;
        }
        let mut cols = line.split('\t');
        let chromosome = cols.next().context("no chromosome")?;
        let position: i64 = cols.next().context("no position")?.parse()?;
        let change = cols.nth(1).context("no change")?;
        n += tx
            .execute(&insert, &[&sample, &chromosome, &position, &change])
            .await?;
    }
    tx.commit().await?;
    Ok(n)
}
