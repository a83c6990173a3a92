//! What the tests of leasehold share: real servers, and the conformance suite for stores.

#![allow(dead_code, reason = "each test binary uses its part")]

pub mod conformance;
pub mod holders;
pub mod http;
pub mod proxy;
pub mod servers;
