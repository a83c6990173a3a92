pub mod slots;

mod embedded {
    refinery::embed_migrations!("migrations");
}

pub use embedded::migrations;

#[derive(Debug, thiserror::Error)]
pub enum SlotError {
    #[error(transparent)]
    Db(#[from] mysql_async::Error),
    #[error("slot {0} is no longer ours")]
    Lost(String),
}
