pub mod crane;
mod lua;
