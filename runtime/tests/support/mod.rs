//! What the tests of leasehold share: real servers, and the conformance suite for stores.

#![allow(dead_code, reason = "each test binary uses its part")]

pub mod conformance;
#[cfg(feature = "consul")]
pub mod consul_stand_in;
pub mod holders;
pub mod http;
pub mod proxy;
pub mod servers;
