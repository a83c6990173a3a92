use std::sync::OnceLock;

static NODE: OnceLock<String> = OnceLock::new();

/// The name of the machine.
pub fn node() -> &'static str {
    NODE.get_or_init(|| {
        hostname::get()
            .ok()
            .and_then(|h| h.into_string().ok())
            .unwrap_or_else(|| "unknown".into())
    })
}
