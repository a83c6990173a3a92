#[derive(Clone, Debug)]
pub struct CaptainConfig {
    pub prefix: String,
    pub group: String,
    /// Lease time in seconds.
    pub lease_secs: i64,
}

impl Default for CaptainConfig {
    fn default() -> Self {
        Self {
            prefix: "/relay".into(),
            group: "default".into(),
            lease_secs: 15,
        }
    }
}
