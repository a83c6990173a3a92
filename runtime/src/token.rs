//! Fencing tokens and owner values: the two numbers that make a lease safe. The token orders holders of one key
//! for the storage; the owner value tells one acquisition from all others for the lease's own store.

use std::fmt;
use std::num::NonZeroU64;

use thiserror::Error;

/// A number that grows with every grant of a key. Storage that remembers the highest one it has seen can refuse
/// a holder whose lease has ended without its knowledge.
///
/// Always between 1 and `i64::MAX`, so that it fits a `BIGINT` column. Tokens are comparable only between
/// grants of the same key from the same store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FencingToken(NonZeroU64);

impl FencingToken {
    /// The token as SQL's `BIGINT`.
    #[must_use]
    pub fn as_i64(self) -> i64 {
        // The constructors keep it within i64.
        i64::try_from(self.0.get()).unwrap_or(i64::MAX)
    }

    /// The token as an unsigned number.
    #[must_use]
    pub fn as_u64(self) -> u64 {
        self.0.get()
    }
}

impl TryFrom<u64> for FencingToken {
    type Error = TokenError;

    fn try_from(number: u64) -> Result<Self, TokenError> {
        let fits = i64::try_from(number).is_ok();
        NonZeroU64::new(number).filter(|_| fits).map(Self).ok_or(TokenError { number: i128::from(number) })
    }
}

impl TryFrom<i64> for FencingToken {
    type Error = TokenError;

    fn try_from(number: i64) -> Result<Self, TokenError> {
        u64::try_from(number).map_err(|_| TokenError { number: i128::from(number) }).and_then(Self::try_from)
    }
}

impl fmt::Display for FencingToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A number that is no fencing token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{number} is no fencing token: tokens are whole numbers from 1 to 9223372036854775807")]
pub struct TokenError {
    number: i128,
}

/// The value by which a holder's entry in the store is recognised: 128 random bits, fresh for each acquisition
/// and never shared, so that renewal and release can only ever touch the entry that they mean.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct OwnerValue([u8; 16]);

impl OwnerValue {
    /// Draws a fresh value from the operating system.
    ///
    /// # Errors
    /// [`NoRandomness`] when the operating system has none to give.
    pub fn fresh() -> Result<Self, NoRandomness> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(NoRandomness)?;
        Ok(Self(bytes))
    }

    pub(crate) fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Reads what [`as_bytes`](OwnerValue::as_bytes) gave, from a store. `None` when it is something else.
    #[must_use]
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Reads what [`to_hex`](OwnerValue::to_hex) gave, from a store. `None` when it is something else.
    #[must_use]
    pub fn from_hex(digits: &str) -> Option<Self> {
        let right = digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let number = u128::from_str_radix(digits, 16).ok().filter(|_| right)?;
        Some(Self(number.to_be_bytes()))
    }

    /// The value as 16 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The value as 32 hexadecimal digits.
    #[must_use]
    pub fn to_hex(self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl fmt::Debug for OwnerValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

/// The operating system gave no random bytes for an owner value.
#[derive(Debug, Clone, Error)]
#[error("the operating system gave no random bytes for an owner value: {0}; nothing was acquired")]
pub struct NoRandomness(getrandom::Error);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_fit_a_bigint() {
        assert!(FencingToken::try_from(0_u64).is_err());
        assert!(FencingToken::try_from(-1_i64).is_err());
        assert!(FencingToken::try_from(u64::MAX).is_err());
        assert_eq!(FencingToken::try_from(i64::MAX).map(FencingToken::as_i64), Ok(i64::MAX));
    }

    #[test]
    fn owner_values_differ() {
        let first = OwnerValue::fresh().unwrap();
        assert_ne!(first, OwnerValue::fresh().unwrap());
        assert_eq!(first.to_hex().len(), 32);
        assert_eq!(OwnerValue::from_hex(&first.to_hex()), Some(first));
        assert_eq!(OwnerValue::from_slice(first.as_bytes()), Some(first));
        assert_eq!(OwnerValue::from_hex(&"+".repeat(32)), None);
    }
}
