//! Nightly export of invoices to the accounting system.
pub mod export;
mod store;

pub use store::Store;
