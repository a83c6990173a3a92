mod named;
pub mod statements;
