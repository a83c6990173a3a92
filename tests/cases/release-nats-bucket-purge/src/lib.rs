pub mod conductor;
