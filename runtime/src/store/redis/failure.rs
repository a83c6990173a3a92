//! What an error of Redis means for a lease.

use redis::{RedisError, ServerErrorKind};

use super::NAME;
use crate::store::StoreError;

pub(in crate::store) fn failure(action: &'static str, error: RedisError) -> StoreError {
    if is_exhausted(&error) {
        return StoreError::TokensExhausted { store: NAME };
    }
    if error.is_io_error() || error.is_connection_dropped() || error.is_timeout() {
        return StoreError::Unreachable { store: NAME, action, cause: error.into() };
    }
    match advice(error.code()) {
        Some(advice) => StoreError::Refused { store: NAME, action, cause: error.into(), advice },
        None => StoreError::Unready { store: NAME, action, cause: error.into() },
    }
}

/// After a failover the address may lead to another server, so a replica's answer ends the connection too.
pub(in crate::store) fn breaks_connection(error: &RedisError) -> bool {
    error.is_unrecoverable_error()
        || error.is_io_error()
        || error.is_connection_dropped()
        || error.kind() == ServerErrorKind::ReadOnly.into()
        || error.kind() == ServerErrorKind::MasterDown.into()
}

pub(in crate::store) fn unintelligible(action: &'static str, answer: impl ToString) -> StoreError {
    StoreError::Unintelligible { store: NAME, action, answer: answer.to_string() }
}

/// What to do about a refusal; `None` for what may pass by itself.
fn advice(code: Option<&str>) -> Option<&'static str> {
    match code? {
        "NOAUTH" | "WRONGPASS" => Some("check user and password in the address"),
        "NOPERM" => Some(
            "the user needs EVALSHA, EVAL, GET, SET, DEL, INCR, EXISTS, PTTL and PEXPIRE on the namespace",
        ),
        "WRONGTYPE" => Some("something else uses the namespace's keys; choose another namespace"),
        "MOVED" | "ASK" => Some("it belongs to a cluster; open the store with `RedisStore::cluster`"),
        "CROSSSLOT" => Some("a proxy spreads the keys of one hash tag; connect to the cluster itself"),
        "ERR" => Some("this server does not run the scripts as Redis 5 and later do"),
        _ => None,
    }
}

fn is_exhausted(error: &RedisError) -> bool {
    error.to_string().contains("increment or decrement would overflow")
}
