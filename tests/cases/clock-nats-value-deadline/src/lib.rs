//! Who rolls up the metrics of a tenant? The one whose name is in the bucket.
pub mod claim;
mod time;
