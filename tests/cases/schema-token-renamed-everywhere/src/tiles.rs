use sqlx::PgPool;

/// Which of the two tile sets a statement is about.
#[derive(Clone, Copy, Debug)]
pub enum TileSet {
    Live,
    Preview,
}

impl TileSet {
    fn table(self) -> &'static str {
        match self {
            TileSet::Live => "tiles",
            TileSet::Preview => "preview_tiles",
        }
    }
}

#[derive(Clone)]
pub struct Tiles {
    pool: PgPool,
    set: TileSet,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Stored {
    New,
    Refused,
}

impl Tiles {
    pub fn new(pool: PgPool, set: TileSet) -> Self {
        Tiles { pool, set }
    }

    pub async fn etag(&self, id: i64) -> sqlx::Result<Option<String>> {
        let sql = format!("SELECT etag FROM {} WHERE id = $1", self.set.table());
        sqlx::query_scalar(&sql)
            .bind(id)
            .fetch_optional(&self.pool)
            .await
    }

    /// Stores what the renderer that holds the tile's lease has made.
    pub async fn store(
        &self,
        id: i64,
        etag: &str,
        bytes: i64,
        token: i64,
    ) -> anyhow::Result<Stored> {
        let sql = format!(
            "UPDATE {} SET etag = $2, bytes = $3, fencing_token = $4 \
              WHERE id = $1 AND fencing_token < $4",
            self.set.table()
        );
        let done = sqlx::query(&sql)
            .bind(id)
            .bind(etag)
            .bind(bytes)
            .bind(token)
            .execute(&self.pool)
            .await?;
        Ok(match done.rows_affected() {
            0 => Stored::Refused,
            _ => Stored::New,
        })
    }
}
