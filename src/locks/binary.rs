//! Programs of the workspace: whether they take leases, and whether they hear SIGTERM.

use crate::facts::Location;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binary {
    /// The package's name, or the file's.
    pub name: String,
    /// The name of `fn main`.
    pub main: Location,
    /// An acquire or renewal that `main` reaches.
    pub takes_lease: Option<LeaseUse>,
    pub sigterm: SigtermHandling,
    /// A dependency that no model knows and whose name says that it may hear signals.
    pub may_hear: Option<String>,
    pub is_test: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseUse {
    pub location: Location,
    pub lock: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SigtermHandling {
    Handled,
    /// Only SIGINT is heard, at this place.
    OnlyInterrupt(Location),
    /// A handler of a crate that hears SIGTERM only with a feature that the manifest lacks.
    FeatureMissing {
        place: Location,
        name: String,
        feature: String,
    },
    Missing,
}
