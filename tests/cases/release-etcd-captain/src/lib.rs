pub mod captain;
pub mod config;
