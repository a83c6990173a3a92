mod duty;
pub mod signs;

pub use duty::Duty;
