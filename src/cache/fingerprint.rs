//! Short numbers that stand for long texts: two texts with one fingerprint are taken for the same.

use std::fmt;

use serde::{Deserialize, Serialize};
use twox_hash::{XxHash3_64, XxHash3_128};

/// XXH3, 128 bits. Nobody gains anything from making two texts alike: whoever can write a file of the checked tree
/// can write a suppression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Fingerprint(u128);

impl Fingerprint {
    pub fn of(bytes: &[u8]) -> Self {
        Self(XxHash3_128::oneshot(bytes))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// A sum over bytes, to tell a whole file from a torn one.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// Makes one fingerprint of several things, in their order.
#[derive(Clone)]
pub struct Mixer(XxHash3_128);

impl Mixer {
    /// Begins with this build of leaselint.
    pub fn new() -> Self {
        let mut mixer = Self(XxHash3_128::new());
        mixer.add(env!("LEASELINT_BUILD").as_bytes());
        mixer
    }

    /// The length goes before, so that no two lists of things run together to the same bytes.
    pub fn add(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.write(&(bytes.len() as u64).to_le_bytes());
        self.0.write(bytes);
        self
    }

    pub fn add_fingerprint(&mut self, fingerprint: Fingerprint) -> &mut Self {
        self.add(&fingerprint.0.to_le_bytes())
    }

    pub fn done(&self) -> Fingerprint {
        Fingerprint(self.0.finish_128())
    }
}

impl Default for Mixer {
    fn default() -> Self {
        Self::new()
    }
}
