pub mod picker;
pub mod worker;
