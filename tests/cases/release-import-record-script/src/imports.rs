use std::sync::LazyLock;

use bb8_redis::redis::Script;
use bb8_redis::RedisConnectionManager;
use uuid::Uuid;

static BEGIN: LazyLock<Script> =
    LazyLock::new(|| Script::new(include_str!("lua/begin_import.lua")));
static FINISH: LazyLock<Script> =
    LazyLock::new(|| Script::new(include_str!("lua/finish_import.lua")));

const IMPORT_LOCK_MS: u64 = 30 * 60 * 1000;

pub struct Import {
    supplier: String,
    owner: Uuid,
}

pub struct Imports {
    pool: bb8::Pool<RedisConnectionManager>,
    host: String,
}

impl Imports {
    fn lock_key(supplier: &str) -> String {
        format!("{{import:{supplier}}}:lock")
    }

    fn progress_key(supplier: &str) -> String {
        format!("{{import:{supplier}}}:progress")
    }

    pub async fn begin(&self, supplier: &str) -> anyhow::Result<Option<Import>> {
        let owner = Uuid::now_v7();
        let mut conn = self.pool.get().await?;
        let begun: i64 = BEGIN
            .key(Self::lock_key(supplier))
            .arg(owner.to_string())
            .arg(IMPORT_LOCK_MS)
            .arg(&self.host)
            .invoke_async(&mut *conn)
            .await?;
        Ok((begun == 1).then(|| Import {
            supplier: supplier.to_owned(),
            owner,
        }))
    }

    /// False if the lock had already passed to another importer.
    pub async fn finish(&self, import: Import, state: &str, rows: u64) -> anyhow::Result<bool> {
        let mut conn = self.pool.get().await?;
        let freed: i64 = FINISH
            .key(Self::lock_key(&import.supplier))
            .key(Self::progress_key(&import.supplier))
            .arg(import.owner.to_string())
            .arg(state)
            .arg(rows)
            .invoke_async(&mut *conn)
            .await?;
        Ok(freed == 1)
    }
}
