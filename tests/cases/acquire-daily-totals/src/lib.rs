pub mod totals;
