mod clip;
pub mod studio;
