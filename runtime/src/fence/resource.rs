//! What a fence protects: a name for all the rows that are written under one lease.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use super::FenceError;
use crate::key::{KeyError, LeaseKey};
use crate::store::Cause;

/// The name of a fence row: by the same rules as a [`LeaseKey`]. One lease may claim several resources.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Resource(Arc<str>);

impl Resource {
    /// Checks a name.
    ///
    /// # Errors
    /// [`ResourceError`] when it is empty, longer than 512 bytes, or contains a NUL character.
    pub fn new(name: impl AsRef<str>) -> Result<Self, ResourceError> {
        let key = LeaseKey::new(name).map_err(ResourceError)?;
        Ok(Self(key.as_str().into()))
    }

    /// The resource of a claim.
    pub(crate) fn of_claim(resource: impl TryInto<Self, Error: Into<Cause>>) -> Result<Self, FenceError> {
        resource.try_into().map_err(|error| FenceError::Database {
            action: "a claim",
            cause: error.into(),
            advice: "name the resource after what is written under the lease",
        })
    }

    /// The name as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&LeaseKey> for Resource {
    fn from(key: &LeaseKey) -> Self {
        Self(key.as_str().into())
    }
}

impl TryFrom<&str> for Resource {
    type Error = ResourceError;

    fn try_from(name: &str) -> Result<Self, ResourceError> {
        Self::new(name)
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "resource `{}`", self.0.escape_debug())
    }
}

impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// Why a text cannot name a resource.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no name for a resource: {0}")]
pub struct ResourceError(#[source] KeyError);
