//! Leases with fencing tokens: distributed locks whose stale holders cannot write.
//!
//! A lock with a TTL cannot be safe by itself: its holder may be paused after it has looked at the clock and before
//! it writes, and when it goes on the lock is somebody else's. So three things go together here:
//!
//! - a [`Lease`], which a store grants with a [`FencingToken`] that grows with every grant, and which is renewed in
//!   the background until the work under it is done or must stop ([`Leases`], [`Tenure`]);
//! - [`fence`]: transactions that the storage refuses when it has seen a newer token;
//! - [`shutdown`]: from SIGTERM to exit in the order cancel, roll back, release.
//!
//! ```
//! use std::time::Duration;
//!
//! use leasehold::Leases;
//! use leasehold::fence::sqlite::SqliteFence;
//! use leasehold::store::sqlite::SqliteStore;
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("bank.db");
//! # rusqlite::Connection::open(&path)?.execute_batch("CREATE TABLE account (name TEXT, balance INTEGER)")?;
//! let leases = Leases::builder(SqliteStore::open(&path)?).ttl(Duration::from_secs(10)).build()?;
//! let fence = SqliteFence::open(&path)?;
//!
//! leases
//!     .run("transfers", |tenure| async move {
//!         // Before the first read: from here on, nobody with an older token can write.
//!         let claimed = fence.claim(&tenure, "accounts").await?;
//!         claimed
//!             .transaction(|tx| tx.execute("UPDATE account SET balance = 0 WHERE name = 'alice'", []))
//!             .await?;
//!         Ok::<_, Box<dyn std::error::Error>>(())
//!     })
//!     .await?;
//! # Ok(())
//! # }
//! ```
//!
//! # What it promises, and what not
//!
//! - At any moment the *store* has at most one holder of a key. Two *processes* may believe to be it for a while,
//!   when clocks jump or a process was paused; then only the one with the newer token can write to fenced storage.
//! - Work is cancelled before the store can give its lease away: at "not yours", after two renewals in a row
//!   without answer, and in any case at [`Tenure::deadline`]. Cancelling takes effect at the work's next `await`.
//! - A lease is given back only when the fenced transactions under it have been committed or rolled back, and no
//!   renewal follows its release.
//! - How far a store's tokens keep growing differs; see [`store::TokenDurability`] and each store's page. Where they
//!   have gone back, fenced storage refuses the new holder rather than accept an old one.
//! - Effects outside fenced storage are not protected. Make them safe to repeat.
//!
//! # Features
//!
//! `memory` and `sqlite` (default), `redis`, `redis-cluster`, `redlock`, `postgres`, `mysql`, `etcd`, `consul`: a store
//! each, and with `sqlite`, `postgres` and `mysql` fenced transactions for these databases. Events and errors go to
//! `tracing`; with the feature `metrics`, counts and times to the `metrics` facade, under the names in [`measures`].

#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    warn(clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::print_stdout)
)]

pub mod clock;
mod election;
#[cfg(any(feature = "postgres", feature = "sqlite", feature = "mysql"))]
pub mod fence;
mod key;
mod lease;
mod leases;
mod loss;
pub mod measures;
#[cfg(feature = "mysql")]
mod mysql_advice;
#[cfg(feature = "mysql")]
mod mysql_desk;
mod renewal;
pub mod settings;
pub mod shutdown;
#[cfg(feature = "sqlite")]
mod sqlite_advice;
#[cfg(feature = "sqlite")]
mod sqlite_desk;
pub mod store;
mod tenure;
mod token;

pub use election::{Election, Leadership, Observation};
pub use key::{KeyError, LeaseKey, MOST_KEY_BYTES};
pub use lease::{Lease, ReleaseOutcome};
pub use leases::{AcquireError, BuildError, Leases, LeasesBuilder, RunError, StillOpen};
pub use loss::{LeaseLost, LossReason};
pub use settings::{Settings, SettingsError};
pub use shutdown::Shutdown;
pub use store::{LeaseStore, StoreError};
pub use tenure::Tenure;
pub use token::{FencingToken, NoRandomness, OwnerValue, TokenError};
pub use tokio_util::sync::CancellationToken;
