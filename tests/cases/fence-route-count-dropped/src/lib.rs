pub mod plan;
pub mod routes;
