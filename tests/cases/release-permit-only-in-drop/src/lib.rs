mod permit;

pub use permit::{ask, Permit};
