pub mod backup;
mod identity;
pub mod lease;
