use std::collections::HashMap;
use std::sync::Mutex;

use chrono::{DateTime, TimeDelta, Utc};
use jsonwebtoken::{EncodingKey, Header, encode};
use serde::Serialize;

#[derive(Serialize)]
struct Claims<'a> {
    sub: &'a str,
    iat: i64,
    exp: i64,
}

/// Tokens for the admin page, used again until shortly before they expire.
pub struct Tokens {
    key: EncodingKey,
    cache: Mutex<HashMap<String, (String, DateTime<Utc>)>>,
}

impl Tokens {
    pub fn new(secret: &[u8]) -> Self {
        Self {
            key: EncodingKey::from_secret(secret),
            cache: Mutex::default(),
        }
    }

    pub fn for_user(&self, user: &str) -> jsonwebtoken::errors::Result<String> {
        let now = Utc::now();
        let mut cache = self.cache.lock().unwrap();
        if let Some((token, expires_at)) = cache.get(user) {
            if *expires_at > now + TimeDelta::seconds(30) {
                return Ok(token.clone());
            }
        }
        let expires_at = now + TimeDelta::minutes(15);
        let claims = Claims {
            sub: user,
            iat: now.timestamp(),
            exp: expires_at.timestamp(),
        };
        let token = encode(&Header::default(), &claims, &self.key)?;
        cache.insert(user.to_owned(), (token.clone(), expires_at));
        Ok(token)
    }
}
