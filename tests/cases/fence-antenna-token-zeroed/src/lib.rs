pub mod antenna;
