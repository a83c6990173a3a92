pub mod cursors;
pub mod leases;
