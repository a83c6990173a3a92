pub mod frontier;
pub mod host_lock;
