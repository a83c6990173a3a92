//! Keeps leases alive while they are held, and ends them: one task for all leases of a
//! [`Leases`](crate::Leases). `term` decides and does nothing, `keeper` does and decides nothing.

mod keeper;
mod term;

pub(crate) use keeper::{Command, Keeper, within};
pub(crate) use term::Schedule;
