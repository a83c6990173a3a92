use std::future::Future;
use std::time::Duration;

use etcd_client::{Client, LockOptions};
use tokio_util::sync::CancellationToken;

const LEASE_SECONDS: i64 = 12;
const BEAT: Duration = Duration::from_secs(4);

async fn keep_alive(mut etcd: Client, lease: i64, stop: CancellationToken, lost: CancellationToken) {
    let beat = async {
        let (mut keeper, mut answers) = etcd.lease_keep_alive(lease).await?;
        loop {
            keeper.keep_alive().await?;
            match answers.message().await? {
                Some(a) if a.ttl() > 0 => tokio::time::sleep(BEAT).await,
                _ => return Ok::<(), etcd_client::Error>(()),
            }
        }
    };
    tokio::select! {
        _ = stop.cancelled() => {}
        end = beat => {
            tracing::warn!("the lease is over: {end:?}");
            lost.cancel();
        }
    }
}

/// Runs `work` on one node at a time; it is dropped when the lease is lost.
pub async fn alone<T>(etcd: &mut Client, name: &str, work: impl Future<Output = T>) -> anyhow::Result<Option<T>> {
    let lease = etcd.lease_grant(LEASE_SECONDS, None).await?.id();
    let stop = CancellationToken::new();
    let lost = CancellationToken::new();
    let beating = tokio::spawn(keep_alive(etcd.clone(), lease, stop.clone(), lost.clone()));

    let run = async {
        let held = etcd
            .lock(name, Some(LockOptions::new().with_lease(lease)))
            .await?;
        let out = tokio::select! {
            out = work => Some(out),
            _ = lost.cancelled() => None,
        };
        Ok::<_, etcd_client::Error>((held.key().to_vec(), out))
    }
    .await;

    stop.cancel();
    beating.await?;
    let out = match run {
        Ok((key, out)) => {
            etcd.unlock(key).await?;
            out
        }
        Err(e) => {
            etcd.lease_revoke(lease).await?;
            return Err(e.into());
        }
    };
    etcd.lease_revoke(lease).await?;
    Ok(out)
}
