use std::time::{SystemTime, UNIX_EPOCH};

/// A number that is larger than every one before it.
pub fn next_token() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    since.as_millis() as i64
}
