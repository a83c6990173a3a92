pub mod ownership;
pub mod segments;
