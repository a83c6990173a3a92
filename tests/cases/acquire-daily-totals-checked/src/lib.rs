pub mod totals;
mod turn;
