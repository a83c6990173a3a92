pub mod limits;
pub mod once;
pub mod replay;
