pub mod lease;
pub mod prices;

refinery::embed_migrations!("migrations");
