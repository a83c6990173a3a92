pub mod named_lock;
pub mod upload;
