mod label;

pub use label::{Label, Labels};
