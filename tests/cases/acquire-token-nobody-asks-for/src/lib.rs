mod lock;
pub mod reindex;
