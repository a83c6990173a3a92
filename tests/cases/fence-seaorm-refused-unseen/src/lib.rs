mod account;
pub mod savings;
