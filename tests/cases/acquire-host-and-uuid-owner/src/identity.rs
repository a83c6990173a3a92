use std::fmt;

use gethostname::gethostname;
use uuid::Uuid;

/// Who holds a lease: new for every acquisition.
#[derive(Clone, Debug)]
pub struct Holder {
    host: String,
    pid: u32,
    unique: Uuid,
}

impl Holder {
    pub fn fresh() -> Self {
        Holder {
            host: gethostname().to_string_lossy().into_owned(),
            pid: std::process::id(),
            unique: Uuid::new_v4(),
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.host, self.pid, self.unique)
    }
}
