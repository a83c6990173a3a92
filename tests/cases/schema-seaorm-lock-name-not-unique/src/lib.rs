pub mod locks;
