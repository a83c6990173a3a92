pub mod login;
pub mod window;
