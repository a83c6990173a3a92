pub mod devices;
pub mod installer;
pub mod turns;
