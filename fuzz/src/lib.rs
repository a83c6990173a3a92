//! What the fuzz targets do with an input. Each is a plain function, so that an input can be tried without a fuzzer.
//!
//! A target fails by a panic, be it one that a run would have caught: `libfuzzer` ends the process at each. It fails
//! as well when what was made of the input breaks a promise that must hold whatever the input is.

mod comments;
mod front_ends;
pub mod mutation;
mod places;
mod settings;
mod stack;
pub mod tree;
mod whole_run;

pub use comments::suppression;
pub use front_ends::{lua, rust, sql};
pub use settings::config;
pub use whole_run::check;
