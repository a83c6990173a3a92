pub mod pilot;
