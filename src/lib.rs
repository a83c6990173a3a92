//! leaselint: finds the distributed-lock code that lets a paused worker write stale data.
//!
//! Data flows one way: `sources` → front ends (`rust`, `sql`, `lua`) → `facts` → `resolve` → `locks` →
//! `rules` → `report`. `ARCHITECTURE.md` names the invariants that keep it so.

pub mod audit;
pub mod cache;
pub mod changes;
pub mod check;
pub mod cli;
pub mod configuration;
pub mod facts;
pub mod finding;
pub mod fixing;
pub mod harm;
pub mod language_server;
pub mod locks;
pub mod lua;
pub mod proof;
pub mod proposal;
pub mod report;
pub mod resolve;
pub mod rules;
pub mod rust;
pub mod sources;
pub mod spelling;
pub mod sql;
pub mod suppression;
