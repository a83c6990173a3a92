pub mod meter;
mod round;
