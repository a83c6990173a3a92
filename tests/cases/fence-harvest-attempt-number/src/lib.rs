pub mod harvest;
mod statements;
