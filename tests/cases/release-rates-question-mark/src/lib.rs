pub mod rates;
