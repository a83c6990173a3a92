pub mod provision;
pub mod store;
