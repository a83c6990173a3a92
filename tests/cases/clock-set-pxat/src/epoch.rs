use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970, `d` from now.
pub fn millis_in(d: Duration) -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("clock before 1970");
    (since + d).as_millis() as u64
}
