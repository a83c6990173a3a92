pub mod digest;
pub mod kv;
