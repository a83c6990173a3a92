pub mod presence;
pub mod session;
