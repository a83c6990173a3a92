pub mod leader;
pub mod status;
