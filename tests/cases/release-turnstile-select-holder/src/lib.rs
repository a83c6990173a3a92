use mysql_async::prelude::*;
use mysql_async::{params, Error, Pool};
use uuid::Uuid;

const DUPLICATE_ENTRY: u16 = 1062;

/// A process that has passed the turnstile runs alone until it comes back.
pub struct Turnstile {
    pool: Pool,
    name: String,
}

impl Turnstile {
    pub fn new(pool: Pool, name: impl Into<String>) -> Self {
        Self {
            pool,
            name: name.into(),
        }
    }

    pub async fn pass(&self) -> Result<Option<Uuid>, Error> {
        let me = Uuid::new_v4();
        let mut conn = self.pool.get_conn().await?;
        let put = conn
            .exec_drop(
                "INSERT INTO turnstiles (name, holder, until_at) \
                 VALUES (:name, :me, NOW(6) + INTERVAL 90 SECOND)",
                params! { "name" => &self.name, "me" => me.to_string() },
            )
            .await;
        match put {
            Ok(()) => Ok(Some(me)),
            Err(Error::Server(e)) if e.code == DUPLICATE_ENTRY => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Run by the janitor every minute.
    pub async fn sweep(&self) -> Result<u64, Error> {
        let mut conn = self.pool.get_conn().await?;
        conn.query_drop("DELETE FROM turnstiles WHERE until_at < NOW(6)").await?;
        Ok(conn.affected_rows())
    }

    pub async fn come_back(&self, me: Uuid) -> Result<bool, Error> {
        let mut conn = self.pool.get_conn().await?;
        let holder: Option<String> = conn
            .exec_first(
                "SELECT holder FROM turnstiles WHERE name = :name",
                params! { "name" => &self.name },
            )
            .await?;
        if holder != Some(me.to_string()) {
            return Ok(false);
        }
        conn.exec_drop(
            "DELETE FROM turnstiles WHERE name = :name",
            params! { "name" => &self.name },
        )
        .await?;
        Ok(conn.affected_rows() == 1)
    }
}
