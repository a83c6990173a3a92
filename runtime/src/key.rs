//! The names of leases. Checks a name once, at the door, so that no store meets one it cannot hold; knows
//! nothing of how a store spells it.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use thiserror::Error;

/// The most bytes that a name may have. Every store can index so many, and a notification can carry them.
pub const MOST_KEY_BYTES: usize = 512;

/// The name of a lease: 1 to [`MOST_KEY_BYTES`] bytes of UTF-8 without NUL. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LeaseKey(Arc<str>);

impl LeaseKey {
    /// Checks a name.
    ///
    /// # Errors
    /// [`KeyError`] when it is empty, longer than [`MOST_KEY_BYTES`] or contains a NUL character.
    pub fn new(name: impl AsRef<str>) -> Result<Self, KeyError> {
        let name = name.as_ref();
        if name.is_empty() {
            return Err(KeyError::Empty);
        }
        if name.len() > MOST_KEY_BYTES {
            return Err(KeyError::TooLong { bytes: name.len() });
        }
        if let Some(at) = name.find('\0') {
            return Err(KeyError::Nul { at });
        }
        Ok(Self(name.into()))
    }

    /// The name as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LeaseKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A name may come from outside; control characters must not reach a terminal or a log line raw.
        write!(f, "{}", self.0.escape_debug())
    }
}

impl fmt::Debug for LeaseKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

macro_rules! key_from {
    ($($source:ty),*) => {$(
        impl TryFrom<$source> for LeaseKey {
            type Error = KeyError;

            fn try_from(name: $source) -> Result<Self, KeyError> {
                Self::new(name)
            }
        }
    )*};
}
key_from!(&str, String, &String);

impl From<&LeaseKey> for LeaseKey {
    fn from(key: &LeaseKey) -> Self {
        key.clone()
    }
}

/// Why a text cannot name a lease.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The name has no characters.
    #[error("a lease needs a name, and this one is empty; name it after the resource that it protects")]
    Empty,
    /// The name has more than [`MOST_KEY_BYTES`] bytes.
    #[error(
        "a lease's name has {bytes} bytes and {MOST_KEY_BYTES} are the most; use a hash of the long part"
    )]
    TooLong {
        /// How many bytes the name has.
        bytes: usize,
    },
    /// The name contains a NUL character, which SQL text cannot hold.
    #[error("a lease's name has a NUL character at byte {at}, which not every store can hold; leave it out")]
    Nul {
        /// The byte at which the NUL stands, counted from 0.
        at: usize,
    },
}

impl From<Infallible> for KeyError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked_at_the_door() {
        assert_eq!(LeaseKey::new(""), Err(KeyError::Empty));
        assert_eq!(LeaseKey::new("a\0b"), Err(KeyError::Nul { at: 1 }));
        assert_eq!(LeaseKey::new("x".repeat(10_000_000)), Err(KeyError::TooLong { bytes: 10_000_000 }));
        assert!(LeaseKey::new("ü".repeat(256)).is_ok());
        assert_eq!(LeaseKey::new("a\u{1b}[2J").map(|key| key.to_string()).as_deref(), Ok("a\\u{1b}[2J"));
    }
}
