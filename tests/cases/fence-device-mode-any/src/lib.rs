pub mod shadow;
