use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
pub struct Settings {
    pub partner_url: String,
    #[serde(default = "Settings::default_lock_ms")]
    pub lock_ms: u64,
    #[serde(default = "Settings::default_prefix")]
    pub lock_prefix: String,
}

impl Settings {
    fn default_lock_ms() -> u64 {
        45_000
    }

    fn default_prefix() -> String {
        "hooks".to_owned()
    }
}
