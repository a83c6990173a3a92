pub mod prices;
pub mod run;
