pub mod curate;
pub mod lock;
