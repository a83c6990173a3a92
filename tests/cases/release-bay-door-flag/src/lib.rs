mod bay;

pub use bay::BayDoor;
