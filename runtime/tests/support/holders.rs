//! Holders for tests of fences: one that is stale without knowing it, its successor, and a caller who goes away.

use std::task::Poll;
use std::time::Duration;

use leasehold::store::memory::MemoryStore;
use leasehold::{Lease, Leases};

pub fn leases() -> Leases {
    Leases::builder(MemoryStore::new()).ttl(Duration::from_secs(60)).build().expect("the settings are right")
}

/// An early holder that does not know that its lease has ended, and its successor.
pub async fn two_holders() -> (Lease, Lease) {
    // Two stores that count alike: as after a pause, the first holder still believes in its lease.
    let (first, second) = (leases(), leases());
    let stale = first.acquire("accounts").await.expect("it is free");
    let before = second.acquire("accounts").await.expect("it is free");
    assert!(before.release().await.is_released());
    let successor = second.acquire("accounts").await.expect("it is free");
    assert!(stale.token() < successor.token());
    (stale, successor)
}

/// Polls `work` as it asks for it, for so many times; `None` when it was not done by then.
pub async fn poll_times<W: Future>(work: W, times: u32) -> Option<W::Output> {
    let mut work = std::pin::pin!(work);
    let mut polled = 0;
    std::future::poll_fn(|context| {
        polled += 1;
        match work.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if polled >= times => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}
