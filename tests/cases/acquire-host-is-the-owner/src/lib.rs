mod identity;
pub mod quarry;
