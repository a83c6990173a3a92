use redis::aio::MultiplexedConnection;
use redis::{cmd, RedisResult, Script};
use uuid::Uuid;

const PAGE_MS: u64 = 8_000;

/// Who renders a page right now.
pub enum Turn {
    Ours(String),
    Theirs(String),
}

pub struct Press {
    conn: MultiplexedConnection,
    free: Script,
}

impl Press {
    pub fn new(conn: MultiplexedConnection) -> Self {
        Self {
            conn,
            free: Script::new(
                r#"
                if redis.call("GET", KEYS[1]) ~= ARGV[1] then
                    return 0
                end
                redis.call("DEL", KEYS[1])
                return 1
                "#,
            ),
        }
    }

    fn plate(page: &str) -> String {
        format!("press:plate:{page}")
    }

    pub async fn ink(&self, page: &str) -> RedisResult<Turn> {
        let ours = Uuid::new_v4().to_string();
        let before: Option<String> = cmd("SET")
            .arg(Self::plate(page))
            .arg(&ours)
            .arg("NX")
            .arg("GET")
            .arg("PX")
            .arg(PAGE_MS)
            .query_async(&mut self.conn.clone())
            .await?;
        Ok(match before {
            None => Turn::Ours(ours),
            Some(theirs) => Turn::Theirs(theirs),
        })
    }

    pub async fn wash(&self, page: &str, ours: &str) -> RedisResult<bool> {
        self.free
            .key(Self::plate(page))
            .arg(ours)
            .invoke_async(&mut self.conn.clone())
            .await
    }
}
