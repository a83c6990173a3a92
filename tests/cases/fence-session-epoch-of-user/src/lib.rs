mod schema;
pub mod users;
