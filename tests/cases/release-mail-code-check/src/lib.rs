use deadpool_redis::redis::AsyncCommands;
use deadpool_redis::Pool;
use rand::Rng;

const CODE_SECONDS: u64 = 600;
const MAX_TRIES: i64 = 5;

#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    #[error(transparent)]
    Pool(#[from] deadpool_redis::PoolError),
    #[error(transparent)]
    Redis(#[from] deadpool_redis::redis::RedisError),
    #[error("too many tries")]
    Throttled,
}

/// Sends six digits by mail and checks what the user types.
pub struct MailCodes {
    pool: Pool,
}

impl MailCodes {
    fn code_key(mail: &str) -> String {
        format!("sign-in:code:{mail}")
    }

    fn tries_key(mail: &str) -> String {
        format!("sign-in:tries:{mail}")
    }

    pub async fn issue(&self, mail: &str) -> Result<String, SignInError> {
        let code = format!("{:06}", rand::thread_rng().gen_range(0..1_000_000));
        let mut c = self.pool.get().await?;
        let _: () = c.set_ex(Self::code_key(mail), &code, CODE_SECONDS).await?;
        Ok(code)
    }

    pub async fn check(&self, mail: &str, typed: &str) -> Result<bool, SignInError> {
        let mut c = self.pool.get().await?;
        let tries: i64 = c.incr(Self::tries_key(mail), 1).await?;
        if tries > MAX_TRIES {
            return Err(SignInError::Throttled);
        }
        let sent: Option<String> = c.get(Self::code_key(mail)).await?;
        if sent.as_deref() != Some(typed) {
            return Ok(false);
        }
        let _: () = c.del(Self::code_key(mail)).await?;
        let _: () = c.del(Self::tries_key(mail)).await?;
        Ok(true)
    }
}
