use redis::{Client, RedisResult, Script};

const TTL_SECS: u64 = 600;

pub struct Held<'a> {
    client: &'a Client,
    key: String,
    token: String,
}

pub fn take<'a>(client: &'a Client, name: &str) -> RedisResult<Option<Held<'a>>> {
    let key = format!("lock/{name}");
    let token = uuid::Uuid::new_v4().to_string();
    let mut conn = client.get_connection()?;
    let ok: Option<String> = redis::cmd("SET")
        .arg(&key)
        .arg(&token)
        .arg("NX")
        .arg("EX")
        .arg(TTL_SECS)
        .query(&mut conn)?;
    Ok(ok.map(|_| Held { client, key, token }))
}

impl Held<'_> {
    /// Another ten minutes, if the lock is still ours.
    pub fn renew(&self) -> RedisResult<bool> {
        let mut conn = self.client.get_connection()?;
        Script::new("if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('EXPIRE',KEYS[1],ARGV[2]) else return 0 end")
            .key(&self.key)
            .arg(&self.token)
            .arg(TTL_SECS)
            .invoke(&mut conn)
    }

    pub fn release(&self) -> RedisResult<bool> {
        let mut conn = self.client.get_connection()?;
        Script::new("if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) else return 0 end")
            .key(&self.key)
            .arg(&self.token)
            .invoke(&mut conn)
    }
}
