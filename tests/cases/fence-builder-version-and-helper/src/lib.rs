mod outcome;
pub mod recipe;
