/// How long a clerk may stay in the vault, in seconds.
pub const VAULT_STAY_SECS: u64 = 90;
