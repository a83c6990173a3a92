pub mod archive;
mod session;
