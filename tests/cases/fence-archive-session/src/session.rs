use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, PgConnection};

const ARCHIVER_CLASS: i32 = 0x41_52;

/// A database session of its own that holds the lock of one shard. When the
/// session ends, however it ends, the lock does too, and nothing more can be
/// written through it.
pub(crate) struct ShardSession {
    conn: PgConnection,
    shard: i16,
}

impl ShardSession {
    pub(crate) async fn open(options: &PgConnectOptions, shard: i16) -> sqlx::Result<Option<Self>> {
        let mut conn = options.connect().await?;
        let ours: bool = sqlx::query_scalar("SELECT pg_try_advisory_lock($1, $2)")
            .bind(ARCHIVER_CLASS)
            .bind(i32::from(shard))
            .fetch_one(&mut conn)
            .await?;
        if !ours {
            conn.close().await?;
            return Ok(None);
        }
        Ok(Some(ShardSession { conn, shard }))
    }

    pub(crate) fn shard(&self) -> i16 {
        self.shard
    }

    pub(crate) fn conn(&mut self) -> &mut PgConnection {
        &mut self.conn
    }

    pub(crate) async fn close(self) -> sqlx::Result<()> {
        self.conn.close().await
    }
}
