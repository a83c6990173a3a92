pub mod lockout;
pub mod sessions;
