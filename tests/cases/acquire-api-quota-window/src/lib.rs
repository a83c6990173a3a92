mod quota;

pub use quota::{Quota, Verdict};
