pub mod document;
pub mod edit;
