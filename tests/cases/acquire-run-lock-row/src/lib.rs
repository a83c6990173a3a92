pub mod export;
pub mod run_lock;
