//! Resolution without a compiler: from the facts of all files to operations on stores, and from these to
//! the inventory that rules read.

mod evaluate;
mod models;
mod order;
mod program;
mod trace;
mod value;
