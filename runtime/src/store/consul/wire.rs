//! The messages of Consul's HTTP interface, as far as leases need them, and how names of leases are spelled there.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::token::OwnerValue;

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct NewSession {
    pub(super) name: &'static str,
    #[serde(rename = "TTL")]
    pub(super) ttl: String,
    pub(super) lock_delay: String,
    /// What becomes of the key when the session ends.
    pub(super) behavior: &'static str,
    /// None: with Consul's own default, rumours about the health of a machine would end leases. Before and since
    /// 1.7 it goes by different names.
    pub(super) checks: [&'static str; 0],
    pub(super) node_checks: [&'static str; 0],
}

#[derive(Debug, Deserialize)]
pub(super) struct Named {
    #[serde(rename = "ID")]
    pub(super) id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Session {
    #[serde(rename = "TTL")]
    pub(super) ttl: String,
}

/// One step of a transaction.
#[derive(Debug, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) struct Step<'a> {
    pub(super) kv: OnKey<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct OnKey<'a> {
    pub(super) verb: &'static str,
    pub(super) key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<&'a str>,
}

impl<'a> Step<'a> {
    pub(super) fn lock(key: &'a str, session: &'a str, owner: &OwnerValue) -> Self {
        let value = Some(STANDARD.encode(owner.to_hex()));
        Self { kv: OnKey { verb: "lock", key, value, session: Some(session) } }
    }

    /// Fails when the key is not this session's.
    pub(super) fn check(key: &'a str, session: &'a str) -> Self {
        Self { kv: OnKey { verb: "check-session", key, value: None, session: Some(session) } }
    }

    pub(super) fn delete(key: &'a str) -> Self {
        Self { kv: OnKey { verb: "delete", key, value: None, session: None } }
    }

    pub(super) fn get(key: &'a str) -> Self {
        Self { kv: OnKey { verb: "get", key, value: None, session: None } }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Outcome {
    pub(super) results: Option<Vec<StepResult>>,
    pub(super) errors: Option<Vec<StepError>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) struct StepResult {
    pub(super) kv: Option<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct StepError {
    pub(super) what: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Entry {
    pub(super) modify_index: u64,
    /// The session that holds the key; left out or empty when none does.
    pub(super) session: Option<String>,
    value: Option<String>,
}

impl Entry {
    /// The session that holds the key.
    pub(super) fn held_by(&self) -> Option<&str> {
        self.session.as_deref().filter(|session| !session.is_empty())
    }

    pub(super) fn owner(&self) -> Option<OwnerValue> {
        let value = STANDARD.decode(self.value.as_deref()?).ok()?;
        OwnerValue::from_hex(std::str::from_utf8(&value).ok()?)
    }
}

/// Spells the name of a lease in the few characters that every version of Consul takes in a path: what is neither
/// letter, digit, `-` nor `_` becomes a comma and two hexadecimal digits for each byte.
pub(super) fn spelled(name: &str) -> String {
    use std::fmt::Write;

    name.bytes().fold(String::with_capacity(name.len()), |mut spelled, byte| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') {
            spelled.push(char::from(byte));
        } else {
            // Writing to a text does not fail.
            let _written = write!(spelled, ",{byte:02x}");
        }
        spelled
    })
}

/// How Consul writes durations, to the millisecond.
pub(super) fn milliseconds(span: std::time::Duration) -> String {
    format!("{}ms", span.as_millis())
}

/// Reads what [`milliseconds`] has written; Consul gives it back as it was.
pub(super) fn from_milliseconds(text: &str) -> Option<std::time::Duration> {
    text.strip_suffix("ms")?.parse().ok().map(std::time::Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::time::Duration;

    use super::*;

    #[test]
    fn names_are_spelled_in_safe_characters_and_stay_different() {
        assert_eq!(spelled("billing/2024.json"), "billing,2f2024,2ejson");
        let names = ["a", "A", "a ", "a,20", ",", "..", "a/../b", "ü", "\u{fc}b", "?=&#", "{a}{b}", "a\tb"];
        let spellings: HashSet<String> = names.iter().map(|name| spelled(name)).collect();
        assert_eq!(spellings.len(), names.len());
        let safe = |byte: u8| byte.is_ascii_alphanumeric() || b",-_".contains(&byte);
        assert!(spellings.iter().all(|name| name.bytes().all(safe)), "{spellings:?}");
    }

    #[test]
    fn messages_are_as_consul_has_them() {
        let owner = OwnerValue::from_bytes([0xab; 16]);
        let steps = [Step::lock("leasehold/a", "s-1", &owner), Step::delete("leasehold/a")];
        assert_eq!(
            serde_json::to_string(&steps).unwrap(),
            r#"[{"KV":{"Verb":"lock","Key":"leasehold/a","Value":"YWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWI=","Session":"s-1"}},{"KV":{"Verb":"delete","Key":"leasehold/a"}}]"#
        );
        let lost = r#"{"Results":null,"Errors":[{"OpIndex":0,"What":"failed to lock key"}]}"#;
        let lost: Outcome = serde_json::from_str(lost).unwrap();
        assert_eq!(lost.errors.unwrap()[0].what, "failed to lock key");
        let free: Entry = serde_json::from_str(r#"{"LockIndex":2,"Key":"a","ModifyIndex":9}"#).unwrap();
        assert_eq!((free.held_by(), free.owner(), free.modify_index), (None, None, 9));
        let held = format!(r#"{{"Session":"s","Value":"{}"}}"#, STANDARD.encode(owner.to_hex()));
        let held: Entry = serde_json::from_str(&held).unwrap();
        assert_eq!((held.held_by(), held.owner()), (Some("s"), Some(owner)));
        let session: Session = serde_json::from_str(r#"{"ID":"x","TTL":"1500ms"}"#).unwrap();
        assert_eq!(from_milliseconds(&session.ttl), Some(Duration::from_millis(1500)));
    }
}
