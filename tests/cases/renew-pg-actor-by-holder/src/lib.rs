//! Settlement files are produced by whichever replica has the lease.
mod lease;

pub use lease::{Command, LeaseHandle, Status, spawn};
