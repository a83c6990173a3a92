pub mod beacon;
pub mod watch;
