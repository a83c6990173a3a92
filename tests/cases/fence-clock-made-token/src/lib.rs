pub mod firmware;
mod locks;
mod token;
