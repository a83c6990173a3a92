use std::sync::LazyLock;

use bb8_redis::redis::{self, Script};
use bb8_redis::RedisConnectionManager;
use uuid::Uuid;

static FINISH: LazyLock<Script> =
    LazyLock::new(|| Script::new(include_str!("lua/finish_import.lua")));

const IMPORT_LOCK_SECONDS: usize = 1800;

pub enum Outcome {
    Done { rows: u64 },
    Failed,
}

impl Outcome {
    fn state(&self) -> &'static str {
        match self {
            Outcome::Done { .. } => "done",
            Outcome::Failed => "failed",
        }
    }

    fn rows(&self) -> u64 {
        match self {
            Outcome::Done { rows } => *rows,
            Outcome::Failed => 0,
        }
    }
}

pub struct Imports {
    pool: bb8::Pool<RedisConnectionManager>,
}

impl Imports {
    fn lock_key(supplier: &str) -> String {
        format!("{{import:{supplier}}}:lock")
    }

    fn progress_key(supplier: &str) -> String {
        format!("{{import:{supplier}}}:progress")
    }

    pub async fn begin(&self, supplier: &str) -> anyhow::Result<bool> {
        let mut conn = self.pool.get().await?;
        let taken: Option<String> = redis::cmd("SET")
            .arg(Self::lock_key(supplier))
            .arg(Uuid::now_v7().to_string())
            .arg("EX")
            .arg(IMPORT_LOCK_SECONDS)
            .arg("NX")
            .query_async(&mut *conn)
            .await?;
        Ok(taken.is_some())
    }

    /// Writes the final progress record and lets the next import in.
    pub async fn finish(&self, supplier: &str, outcome: &Outcome) -> anyhow::Result<bool> {
        let mut conn = self.pool.get().await?;
        let freed: i64 = FINISH
            .key(Self::lock_key(supplier))
            .key(Self::progress_key(supplier))
            .arg(outcome.state())
            .arg(outcome.rows())
            .invoke_async(&mut *conn)
            .await?;
        Ok(freed == 1)
    }

    pub async fn run<F, Fut>(&self, supplier: &str, work: F) -> anyhow::Result<Option<u64>>
    where
        F: FnOnce() -> Fut,
        Fut: std::future::Future<Output = anyhow::Result<u64>>,
    {
        if !self.begin(supplier).await? {
            return Ok(None);
        }
        let result = work().await;
        let outcome = match &result {
            Ok(rows) => Outcome::Done { rows: *rows },
            Err(_) => Outcome::Failed,
        };
        anyhow::ensure!(self.finish(supplier, &outcome).await?, "lock had expired");
        result.map(Some)
    }
}
