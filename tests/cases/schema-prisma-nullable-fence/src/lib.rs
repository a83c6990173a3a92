pub mod recount;
pub mod segments;
