//! Leases with fencing tokens: distributed locks whose stale holders cannot write.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

pub mod clock;
mod election;
pub mod fence;
mod key;
mod lease;
mod leases;
mod loss;
mod renewal;
pub mod settings;
pub mod shutdown;
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
