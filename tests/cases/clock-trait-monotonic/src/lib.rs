pub mod clock;
pub mod master;
