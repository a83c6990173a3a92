mod guard;
pub mod render;
