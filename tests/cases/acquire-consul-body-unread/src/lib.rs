pub mod consul;
pub mod schema_sync;
