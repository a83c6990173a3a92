pub mod locks;
pub mod rollup;
