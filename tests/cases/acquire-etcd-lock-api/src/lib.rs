pub mod migrator;
