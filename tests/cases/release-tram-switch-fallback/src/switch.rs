use fred::prelude::*;
use fred::types::{Expiration, SetOptions};
use uuid::Uuid;

const LET_GO: &str = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end return redis.call('DEL', KEYS[1])";

pub struct Switch {
    redis: Client,
    key: String,
    hand: String,
    gone: bool,
}

async fn free(redis: &Client, key: &str, hand: &str) -> Result<bool, Error> {
    let n: i64 = redis.eval(LET_GO, key, hand).await?;
    Ok(n == 1)
}

impl Switch {
    pub async fn seize(redis: &Client, id: u32) -> Result<Option<Self>, Error> {
        let key = format!("tram:switch:{id}");
        let hand = Uuid::new_v4().to_string();
        let won: Option<String> = redis
            .set(key.as_str(), hand.as_str(), Some(Expiration::PX(12_000)), Some(SetOptions::NX), false)
            .await?;
        Ok(won.map(|_| Self {
            redis: redis.clone(),
            key,
            hand,
            gone: false,
        }))
    }

    pub async fn let_go(mut self) -> Result<bool, Error> {
        let freed = free(&self.redis, &self.key, &self.hand).await?;
        self.gone = true;
        Ok(freed)
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        if self.gone {
            return;
        }
        let (redis, key, hand) = (self.redis.clone(), self.key.clone(), self.hand.clone());
        if let Ok(rt) = tokio::runtime::Handle::try_current() {
            rt.spawn(async move {
                let _ = free(&redis, &key, &hand).await;
            });
        }
    }
}
