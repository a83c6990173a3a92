pub mod publish;
pub mod zone_lock;
