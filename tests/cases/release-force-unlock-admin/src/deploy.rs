use fred::prelude::*;
use uuid::Uuid;

use crate::environment_key;

static FINISH: &str =
    "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end return redis.call('DEL', KEYS[1])";

#[derive(Clone)]
pub struct Deployments {
    pub(crate) redis: Client,
}

impl Deployments {
    pub async fn begin(&self, environment: &str, max_secs: i64) -> Result<Option<Uuid>, Error> {
        let deployment = Uuid::new_v4();
        let set: Option<String> = self
            .redis
            .set(
                environment_key(environment),
                deployment.to_string(),
                Some(Expiration::EX(max_secs)),
                Some(SetOptions::NX),
                false,
            )
            .await?;
        Ok(set.map(|_| deployment))
    }

    pub async fn finish(&self, environment: &str, deployment: Uuid) -> Result<bool, Error> {
        let n: i64 = self
            .redis
            .eval(FINISH, environment_key(environment), deployment.to_string())
            .await?;
        Ok(n > 0)
    }
}
