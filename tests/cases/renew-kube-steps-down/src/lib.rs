//! The reconcilers of this operator run only where `Leader::is_leading` says so.
mod leader;

pub use leader::{Leader, LeaseSettings};
