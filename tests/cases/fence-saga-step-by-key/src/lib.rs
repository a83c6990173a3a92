pub mod orchestrator;
pub mod schema;
pub mod steps;
