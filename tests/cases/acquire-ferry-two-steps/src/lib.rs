pub mod cache;
pub mod ferry;
