pub mod cleaner;
pub mod leader;
