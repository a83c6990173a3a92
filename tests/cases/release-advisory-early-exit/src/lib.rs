mod keys;
pub mod vacuum;
