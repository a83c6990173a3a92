pub mod claims;
pub mod farm;
