use fred::prelude::RedisClient;
use snafu::{ResultExt, Whatever};

use crate::lock::PlaylistLock;

pub trait Catalogue {
    fn similar(
        &self,
        playlist: &str,
    ) -> impl std::future::Future<Output = Result<Vec<u64>, Whatever>> + Send;
    fn publish(
        &self,
        playlist: &str,
        tracks: &[u64],
    ) -> impl std::future::Future<Output = Result<(), Whatever>> + Send;
}

/// Fills the playlist with similar tracks and publishes it.
pub async fn curate(
    redis: &RedisClient,
    catalogue: &impl Catalogue,
    playlist: &str,
) -> Result<bool, Whatever> {
    let lock = PlaylistLock::acquire(redis, playlist)
        .await
        .whatever_context("acquiring the playlist")?;
    let Some(lock) = lock else { return Ok(false) };

    let done = async {
        let tracks = catalogue.similar(playlist).await?;
        catalogue.publish(playlist, &tracks).await
    }
    .await;

    match lock.release().await {
        Ok(true) => {}
        Ok(false) => tracing::warn!(playlist, "lock ran out before the release"),
        Err(e) => tracing::warn!(playlist, "release: {e}"),
    }
    done.map(|()| true)
}
