use redis::aio::ConnectionManager;
use redis::Script;
use uuid::Uuid;

pub struct Turn {
    pub token: i64,
    key: String,
    owner: Uuid,
}

pub struct Turns {
    conn: ConnectionManager,
}

const TAKE: &str = "
local ok = redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
if not ok then return 0 end
return redis.call('INCR', KEYS[1] .. ':token')
";

const END: &str = "
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
";

impl Turns {
    pub async fn take(&self, device: i64) -> redis::RedisResult<Option<Turn>> {
        let key = format!("{{device:{device}}}:turn");
        let owner = Uuid::new_v4();
        let token: i64 = Script::new(TAKE)
            .key(&key)
            .arg(owner.to_string())
            .arg(40_000)
            .invoke_async(&mut self.conn.clone())
            .await?;
        Ok((token > 0).then_some(Turn { token, key, owner }))
    }

    pub async fn end(&self, turn: Turn) -> redis::RedisResult<bool> {
        let n: i64 = Script::new(END)
            .key(turn.key)
            .arg(turn.owner.to_string())
            .invoke_async(&mut self.conn.clone())
            .await?;
        Ok(n == 1)
    }
}
