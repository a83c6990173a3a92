use std::time::Duration;

use async_nats::jetstream::{self, kv};

use crate::KeeperError;

/// Entries vanish by themselves after this long.
pub const OWNERSHIP_AGE: Duration = Duration::from_secs(45);

pub async fn open(js: &jetstream::Context) -> Result<kv::Store, KeeperError> {
    js.create_key_value(kv::Config {
        bucket: "shard_owners".to_owned(),
        max_age: OWNERSHIP_AGE,
        history: 1,
        num_replicas: 3,
        ..Default::default()
    })
    .await
    .map_err(KeeperError::bucket)
}
