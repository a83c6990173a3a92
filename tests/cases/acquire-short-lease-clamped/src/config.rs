use std::time::Duration;

use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub struct FeedConfig {
    pub url: String,
    /// How long one poll may hold the cursor, in milliseconds.
    pub lease_ms: u64,
}

impl Default for FeedConfig {
    fn default() -> Self {
        FeedConfig {
            url: "https://feeds.internal/v2".to_owned(),
            lease_ms: 750,
        }
    }
}

impl FeedConfig {
    pub fn lease(&self) -> Duration {
        Duration::from_millis(self.lease_ms.max(50))
    }
}
