mod outcome;
pub mod store;

pub use outcome::WriteError;
