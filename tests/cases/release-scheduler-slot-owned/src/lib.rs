pub mod slots;
mod sql;

#[derive(Debug, thiserror::Error)]
pub enum SlotError {
    #[error(transparent)]
    Db(#[from] mysql_async::Error),
    #[error("slot {0} is no longer ours")]
    Lost(String),
}
