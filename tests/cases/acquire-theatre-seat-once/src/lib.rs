mod sql;
pub mod theatre;
