pub mod periods;
mod sql;
