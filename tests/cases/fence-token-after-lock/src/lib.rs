pub mod locks;
pub mod stock;
