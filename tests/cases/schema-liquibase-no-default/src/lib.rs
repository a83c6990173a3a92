pub mod dispatch;
pub mod shipments;
