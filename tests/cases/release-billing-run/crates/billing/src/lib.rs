pub mod invoices;
pub mod run;
