pub mod lanes;
pub mod planner;
