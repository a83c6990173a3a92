pub mod consul;
pub mod import;
