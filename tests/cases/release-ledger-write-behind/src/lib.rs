pub mod closing;
mod seal;
