//! Whose turn is it? A seat at the table is a lease with a waiting list.
pub mod seat;
