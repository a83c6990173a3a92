//! The messages of etcd's JSON gateway, as far as leases need them. Two habits of it are dealt with here: 64-bit
//! numbers are texts, and whatever is zero, false or empty is left out.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{self, DeserializeOwned, Deserializer, Error as _, Visitor};
use serde::{Deserialize, Serialize};

/// Reads a message. A list is none, although `serde` would take it for the members of one in their order.
pub(super) fn read_message<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    match bytes.trim_ascii_start().first() {
        Some(b'[') => Err(serde_json::Error::custom("a list instead of a message")),
        _ => serde_json::from_slice(bytes),
    }
}

/// A 64-bit number; 0 where it is left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Number(pub(super) i64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl Visitor<'_> for Either {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a 64-bit number, or its digits as a text")
            }

            fn visit_str<E: de::Error>(self, digits: &str) -> Result<Number, E> {
                digits.parse().map(Number).map_err(E::custom)
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Number, E> {
                Ok(Number(number))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Number, E> {
                i64::try_from(number).map(Number).map_err(E::custom)
            }
        }

        deserializer.deserialize_any(Either)
    }
}

impl Serialize for Number {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// Bytes; none where they are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl From<&str> for Bytes {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map(Self).map_err(de::Error::custom)
    }
}

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

#[derive(Debug, Serialize)]
pub(super) struct GrantLease {
    #[serde(rename = "TTL")]
    pub(super) seconds: Number,
    #[serde(rename = "ID")]
    pub(super) lease: Number,
}

#[derive(Debug, Serialize)]
pub(super) struct NamedLease {
    #[serde(rename = "ID")]
    pub(super) lease: Number,
}

/// The answer to a grant, and what is inside that to a keep-alive.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct LeaseLasts {
    #[serde(rename = "TTL")]
    pub(super) seconds: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct KeptAlive {
    pub(super) result: Option<LeaseLasts>,
    pub(super) error: Option<Complaint>,
}

#[derive(Debug, Serialize)]
pub(super) struct Range {
    pub(super) key: Bytes,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Entries {
    pub(super) kvs: Vec<Entry>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Entry {
    pub(super) key: Bytes,
    pub(super) value: Bytes,
    pub(super) lease: Number,
}

/// Puts the key under a lease, if there is no such key.
#[derive(Debug, Serialize)]
pub(super) struct PutIfNew {
    compare: [Compare; 1],
    success: [Put; 1],
}

#[derive(Debug, Serialize)]
struct Compare {
    key: Bytes,
    target: &'static str,
    result: &'static str,
    create_revision: Number,
}

#[derive(Debug, Serialize)]
struct Put {
    request_put: PutEntry,
}

#[derive(Debug, Serialize)]
struct PutEntry {
    key: Bytes,
    value: Bytes,
    lease: Number,
}

impl PutIfNew {
    pub(super) fn new(key: &str, value: &str, lease: i64) -> Self {
        let create_revision = Number(0);
        Self {
            compare: [Compare { key: key.into(), target: "CREATE", result: "EQUAL", create_revision }],
            success: [Put {
                request_put: PutEntry { key: key.into(), value: value.into(), lease: Number(lease) },
            }],
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Decision {
    pub(super) header: Header,
    pub(super) succeeded: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Header {
    pub(super) revision: Number,
}

#[derive(Debug, Serialize)]
pub(super) struct WatchDeletions {
    create_request: DeletionsBetween,
}

#[derive(Debug, Serialize)]
struct DeletionsBetween {
    key: Bytes,
    range_end: Bytes,
    filters: [&'static str; 1],
}

impl WatchDeletions {
    /// Of keys from `first` to before `end`.
    pub(super) fn between(first: &str, end: &str) -> Self {
        let (key, range_end) = (first.into(), end.into());
        Self { create_request: DeletionsBetween { key, range_end, filters: ["NOPUT"] } }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Watched {
    pub(super) result: Option<Events>,
    pub(super) error: Option<Complaint>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Events {
    pub(super) created: bool,
    pub(super) canceled: bool,
    pub(super) events: Vec<EntryEvent>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct EntryEvent {
    pub(super) kv: Entry,
}

#[derive(Debug, Serialize)]
pub(super) struct Authenticate<'a> {
    pub(super) name: &'a str,
    pub(super) password: &'a str,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Authenticated {
    pub(super) token: String,
}

/// What the server complains of. Streams name the code otherwise than single answers do.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Complaint {
    #[serde(alias = "grpc_code")]
    pub(super) code: u32,
    pub(super) message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As etcd 3.4 writes them.
    #[test]
    fn what_is_left_out_is_zero() {
        let lost: Decision = serde_json::from_str(r#"{"header":{"revision":"2"},"responses":[{}]}"#).unwrap();
        assert_eq!((lost.succeeded, lost.header.revision), (false, Number(2)));
        let gone: KeptAlive = serde_json::from_str(r#"{"result":{"header":{},"ID":"770"}}"#).unwrap();
        assert_eq!(gone.result.unwrap().seconds, Number(0));
        let kept: KeptAlive = serde_json::from_str(r#"{"result":{"ID":"77","TTL":"3"}}"#).unwrap();
        assert_eq!(kept.result.unwrap().seconds, Number(3));
        let newer: KeptAlive = serde_json::from_str(r#"{"result":{"ID":77,"TTL":3}}"#).unwrap();
        assert_eq!(newer.result.unwrap().seconds, Number(3));
        let events =
            r#"{"result":{"events":[{"type":"DELETE","kv":{"key":"bGVhc2U=","mod_revision":"5"}}]}}"#;
        let events: Watched = serde_json::from_str(events).unwrap();
        assert_eq!(events.result.unwrap().events[0].kv.key, Bytes::from("lease"));
    }

    #[test]
    fn nonsense_is_no_message() {
        for text in [
            "",
            "[]",
            r#"{"header":{"revision":"x"}}"#,
            r#"{"header":{"revision":1.5}}"#,
            r#"{"header":{"revision":99999999999999999999}}"#,
        ] {
            assert!(read_message::<Decision>(text.as_bytes()).is_err(), "{text}");
        }
        assert!(serde_json::from_str::<Entry>(r#"{"key":"*"}"#).is_err());
    }
}
