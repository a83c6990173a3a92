pub mod batch;
pub mod settings;
