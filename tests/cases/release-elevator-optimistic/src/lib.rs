mod elevator;

pub use elevator::{Elevator, Ride};
