//! From traces to the inventory: keys with their evidence, sequences of operations, SQL statements,
//! wall-clock flows and binaries. Nothing is judged here.

mod applied;
mod binaries;
mod binds;
mod clocks;
mod deadlines;
mod defaults;
mod destructors;
mod documents;
mod dropped_results;
mod evidence;
mod keys;
mod left_sessions;
mod lifetimes;
mod quorums;
mod repetitions;
mod routines;
mod scripts;
mod sea_migrations;
mod sequences;
mod session_locks;
mod sql_files;
mod statement_texts;
mod statements;
mod timelines;
mod told_by_callers;
mod written;
mod written_owner;

pub(super) use binaries::binaries;
pub(super) use clocks::clock_flows;
pub(super) use deadlines::late_deadlines;
pub(super) use defaults::renewal_defaults;
pub(super) use dropped_results::mark_best_effort;
pub(super) use evidence::weigh;
pub(super) use keys::KeyTable;
pub(super) use left_sessions::left_sessions;
pub(super) use quorums::quorums;
pub(super) use routines::routine_statements;
pub(super) use sea_migrations::rust_migrations;
pub(super) use sequences::sequences;
pub use sql_files::SqlUnit;
pub(super) use sql_files::{file_statements, schema};
pub(super) use statements::statements;
pub(super) use timelines::timelines;
