pub mod bus;
pub mod line;
