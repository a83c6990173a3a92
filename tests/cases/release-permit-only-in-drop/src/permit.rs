use redis::aio::ConnectionManager;
use redis::{RedisResult, Script};
use uuid::Uuid;

const RETURN_PERMIT: &str = r"
if redis.call('GET', KEYS[1]) == ARGV[1] then
    return redis.call('DEL', KEYS[1])
end
return 0
";

/// The permit to dig at a site. Ends with this value.
pub struct Permit {
    conn: ConnectionManager,
    site: String,
    number: String,
}

fn site_key(site: &str) -> String {
    format!("site:{site}:dig-permit")
}

/// None while somebody else digs there.
pub async fn ask(conn: &ConnectionManager, site: &str) -> RedisResult<Option<Permit>> {
    let number = Uuid::new_v4().simple().to_string();
    let mut c = conn.clone();
    let ok: Option<String> = redis::cmd("SET")
        .arg(site_key(site))
        .arg(&number)
        .arg("NX")
        .arg("PX")
        .arg(40_000)
        .query_async(&mut c)
        .await?;
    Ok(ok.map(|_| Permit {
        conn: c,
        site: site.to_owned(),
        number,
    }))
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut conn = self.conn.clone();
        let key = site_key(&self.site);
        let number = std::mem::take(&mut self.number);
        tokio::spawn(async move {
            let returned: RedisResult<i64> = Script::new(RETURN_PERMIT)
                .key(&key)
                .arg(&number)
                .invoke_async(&mut conn)
                .await;
            match returned {
                Ok(1) => {}
                Ok(_) => tracing::warn!(key, "the permit had run out"),
                Err(e) => tracing::error!(key, "{e}"),
            }
        });
    }
}
