pub mod leases;
pub mod schema;
