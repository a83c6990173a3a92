use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the epoch, for log lines and object names.
pub fn unix_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map(|d| d.as_millis() as u64)
        .unwrap_or_default()
}

/// A name that sorts by time.
pub fn object_name(prefix: &str) -> String {
    format!("{prefix}/{:013}.parquet", unix_ms())
}
