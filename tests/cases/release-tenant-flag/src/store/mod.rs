mod held;
mod names;

pub use held::Held;
pub use names::LockName;
