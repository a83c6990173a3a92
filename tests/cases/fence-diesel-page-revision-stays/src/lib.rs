mod schema;
pub mod wiki;
