use async_nats::jetstream::kv::{CreateErrorKind, Store};
use bytes::Bytes;
use uuid::Uuid;

use crate::KeeperError;

pub struct Shards {
    bucket: Store,
}

/// The right to consume one shard.
pub struct Ownership {
    pub shard: u16,
    me: String,
    revision: u64,
}

fn shard_key(shard: u16) -> String {
    format!("shard.{shard:04}.owner")
}

impl Shards {
    pub fn new(bucket: Store) -> Self {
        Shards { bucket }
    }

    pub async fn claim(&self, shard: u16) -> Result<Option<Ownership>, KeeperError> {
        let me = Uuid::new_v4().simple().to_string();
        match self
            .bucket
            .create(shard_key(shard), Bytes::from(me.clone()))
            .await
        {
            Ok(revision) => Ok(Some(Ownership {
                shard,
                me,
                revision,
            })),
            Err(e) if e.kind() == CreateErrorKind::AlreadyExists => Ok(None),
            Err(e) => Err(KeeperError::bucket(e)),
        }
    }

    /// Tells the bucket that we are still alive.
    pub async fn touch(&self, own: &mut Ownership) -> Result<(), KeeperError> {
        own.revision = self
            .bucket
            .update(
                shard_key(own.shard),
                Bytes::from(own.me.clone()),
                own.revision,
            )
            .await
            .map_err(|_| KeeperError::NotOurs(own.shard))?;
        Ok(())
    }

    /// Hands the shard back, so that the next instance need not wait.
    pub async fn hand_back(&self, own: Ownership) -> Result<(), KeeperError> {
        let key = shard_key(own.shard);
        let entry = self.bucket.entry(&key).await.map_err(KeeperError::bucket)?;
        let Some(entry) = entry else {
            tracing::debug!(shard = own.shard, "already expired");
            return Ok(());
        };
        if entry.value.as_ref() != own.me.as_bytes() {
            return Err(KeeperError::NotOurs(own.shard));
        }
        self.bucket.purge(&key).await.map_err(KeeperError::bucket)?;
        tracing::info!(shard = own.shard, "handed back");
        Ok(())
    }

    pub async fn drain(&self, owned: Vec<Ownership>) -> usize {
        let mut back = 0;
        for own in owned {
            let shard = own.shard;
            match self.hand_back(own).await {
                Ok(()) => back += 1,
                Err(e) => tracing::warn!(shard, error = %e, "could not hand back"),
            }
        }
        back
    }
}
