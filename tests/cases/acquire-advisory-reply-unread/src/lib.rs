pub mod digest;
