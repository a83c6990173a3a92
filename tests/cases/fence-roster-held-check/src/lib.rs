pub mod lease;
pub mod rosters;
