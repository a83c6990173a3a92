pub mod config;
pub mod cursor_lease;
pub mod legacy;
