use std::time::Duration;

use async_nats::jetstream::kv::{
    Config, CreateError, CreateErrorKind, DeleteError, Store, UpdateErrorKind,
};

/// An entry that is not written again vanishes after this time.
const MAX_AGE: Duration = Duration::from_secs(15);
const BEAT: Duration = Duration::from_secs(5);

pub fn bucket() -> Config {
    Config {
        bucket: "beacon-leases".into(),
        max_age: MAX_AGE,
        history: 1,
        ..Default::default()
    }
}

pub struct Lease {
    store: Store,
    key: &'static str,
    revision: u64,
}

impl Lease {
    pub async fn take(store: &Store, key: &'static str) -> Result<Option<Lease>, CreateError> {
        match store.create(key, "on air".into()).await {
            Ok(revision) => Ok(Some(Lease {
                store: store.clone(),
                key,
                revision,
            })),
            Err(e) if e.kind() == CreateErrorKind::AlreadyExists => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Tells why the lease cannot be kept.
    pub async fn keep(&mut self) -> &'static str {
        let mut failed = false;
        loop {
            tokio::time::sleep(BEAT).await;
            match self
                .store
                .update(self.key, "on air".into(), self.revision)
                .await
            {
                Ok(revision) => {
                    self.revision = revision;
                    failed = false;
                }
                Err(e) if e.kind() == UpdateErrorKind::WrongLastRevision => return "taken over",
                Err(_) if failed => return "two beats failed",
                Err(e) => {
                    tracing::warn!("beat: {e}");
                    failed = true;
                }
            }
        }
    }

    /// Refused by the server unless the entry is still the one we wrote.
    pub async fn release(self) -> Result<(), DeleteError> {
        self.store
            .delete_expect_revision(self.key, Some(self.revision))
            .await
    }
}
