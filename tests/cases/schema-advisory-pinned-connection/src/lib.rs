pub mod leader;
pub mod seal;
