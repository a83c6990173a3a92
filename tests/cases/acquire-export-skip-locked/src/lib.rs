pub mod queue;
pub mod schema;
