pub mod settle;
pub mod wallets;
