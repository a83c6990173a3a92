pub mod sweeper;
pub mod transcodes;
