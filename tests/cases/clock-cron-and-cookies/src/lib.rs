pub mod tick;
pub mod token;
