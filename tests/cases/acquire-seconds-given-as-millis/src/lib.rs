pub mod limits;
pub mod vault;
