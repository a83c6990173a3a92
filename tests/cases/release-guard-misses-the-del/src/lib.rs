mod scripts;
pub mod tower;
