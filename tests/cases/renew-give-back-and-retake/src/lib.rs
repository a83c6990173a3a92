pub mod build;
mod region_lock;
