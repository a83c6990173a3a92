pub mod imports;
mod schema;
