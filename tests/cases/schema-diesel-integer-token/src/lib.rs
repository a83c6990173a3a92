pub mod meters;
pub mod schema;
