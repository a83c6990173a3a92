//! Keeps one mirror per region in step with the origin.
mod region;

use std::time::Duration;

use fred::prelude::Client;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use region::Region;

pub struct SyncService {
    tracker: TaskTracker,
    cancel: CancellationToken,
}

impl SyncService {
    pub fn start(redis: Client, regions: Vec<String>) -> Self {
        let this = Self {
            tracker: TaskTracker::new(),
            cancel: CancellationToken::new(),
        };
        for name in regions {
            let (region, cancel) = (Region::new(redis.clone(), name), this.cancel.clone());
            this.tracker.spawn(async move {
                while !cancel.is_cancelled() {
                    if let Err(e) = region.sync_once(&cancel).await {
                        tracing::warn!("{e:#}");
                    }
                    let pause = tokio::time::sleep(Duration::from_secs(10));
                    cancel.run_until_cancelled(pause).await;
                }
            });
        }
        this.tracker.close();
        this
    }

    pub async fn stop(self) {
        self.cancel.cancel();
        self.tracker.wait().await;
    }
}
