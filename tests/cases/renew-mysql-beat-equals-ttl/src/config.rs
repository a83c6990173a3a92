use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub struct LockConfig {
    pub name: String,
    /// Seconds until a silent owner loses the lock.
    pub ttl_secs: u32,
    /// Seconds between two heartbeats.
    pub heartbeat_secs: u32,
}

impl Default for LockConfig {
    fn default() -> Self {
        Self {
            name: "voucher-batch".into(),
            ttl_secs: 30,
            heartbeat_secs: 30,
        }
    }
}
