pub mod leases;
pub mod publisher;
