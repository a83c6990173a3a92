//! Which Rust files can hold a lock operation at all: a plain search over their bytes.
//!
//! Parsing is what costs, so a package is parsed only when one of its files holds a word without which
//! no rule can speak. A word that merely belongs to the subject (`redis`, `lease`) is no such word. One
//! hit selects its whole package, since helpers, constants and types live in other files.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

/// Redis and its kin: an acquire is a conditional SET, a script or a library's call.
const REDIS: &[&str] = &[
    "set_nx",
    "setnx",
    "SETNX",
    "SetNx",
    // `SET key value NX PX …` in one text, or word by word.
    "\"NX\"",
    "\"nx\"",
    " NX ",
    " NX\"",
    "::NX",
    "IfNotExist",
    "if_not_exist",
    // A lock without NX: a check, then a SET with an expiry.
    "set_ex(",
    "set_ex::",
    "pset_ex",
    "SETEX",
    "Expiration::",
    "\"EX\"",
    "\"PX\"",
    "\"EXISTS\"",
    "::EX(",
    "::PX(",
    // Scripts and functions, wherever their text stands.
    "Script::new",
    "Script::from",
    "\"EVAL",
    ".eval(",
    "evalsha",
    "fcall",
    "FCALL",
    "redis.call",
    ".lua\"",
    // Compare and delete, compare and set.
    "DELEX",
    "delex",
    "IFEQ",
    "GETDEL",
    "GETSET",
    "get_del(",
    "getset(",
    "\"WATCH\"",
    // Release and renewal of a key that another package acquires.
    "\"DEL\"",
    "\"UNLINK\"",
    "\"EXPIRE\"",
    "PEXPIRE",
    "pexpire",
];

/// Libraries and services whose leases are taken by a call.
const LEASES: &[&str] = &[
    "rslock",
    "redlock",
    "RedLock",
    "Redlock",
    "distributed_lock",
    "DistributedLock",
    "leasehold",
    // etcd, Consul, NATS, Kubernetes.
    "lease_grant",
    "LeaseGrant",
    "lease_keep_alive",
    "Compare::",
    "TxnCmp",
    "LockOptions",
    "acquire=",
    "v1/session",
    "session/create",
    "jetstream::kv",
    "kv::Store",
    ".create_key_value(",
    "coordination::v1",
    "LeaseSpec",
    "LeaseLock",
    "holderIdentity",
    "holder_identity",
    "leader_election",
    // Columns and fields that only a lease or a claim has. (`fence` alone is a memory barrier.)
    "fencing",
    "Fencing",
    "fence_",
    " fence ",
    "locked_until",
    "lease_until",
    "leased_until",
    "lease_expires",
    "locked_by",
    "LockedBy",
    "LockedUntil",
];

/// Locks of databases, and the statements that a fencing token must guard.
const SQL: &[&str] = &[
    "advisory_",
    "ADVISORY_",
    "AdvisoryLock",
    "GET_LOCK",
    "get_lock(",
    "RELEASE_LOCK",
    "FOR UPDATE",
    "for update",
    "for_update",
    "SKIP LOCKED",
    "skip_locked",
    "lock_exclusive",
    "LockType::",
    // In small letters `update` is too common a word of prose, so its parameters stand for it.
    "UPDATE ",
    "\"update ",
    "= $1",
    "= $2",
    " = ?",
    "DELETE FROM",
    "delete from ",
    "INSERT INTO",
    "insert into ",
    "REPLACE INTO",
    "INSERT OR REPLACE",
    "MERGE INTO",
    // The statement stands in another file, or is built by calls.
    "query_file",
    ".sql\"",
    "diesel::update",
    "diesel::delete",
    "update_many",
    "update_all",
    "delete_many",
    "Query::update",
    "Query::delete",
];

/// A suppression comment must be seen even where it suppresses nothing.
const COMMENTS: &[&str] = &["leaselint:"];

/// The matcher over all needles. (The SIMD search behind it needs `LeftmostFirst`.)
pub fn prefilter() -> &'static AhoCorasick {
    static MATCHER: LazyLock<AhoCorasick> = LazyLock::new(|| {
        AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostFirst)
            .build([REDIS, LEASES, SQL, COMMENTS].concat())
            .expect("a hundred short needles are within the limits of the automaton")
    });
    &MATCHER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_hits_in_the_forms_that_clients_offer() {
        for text in [
            "conn.set_nx(key, owner)",
            r#"cmd("SET").arg(k).arg(v).arg("NX").arg("PX")"#,
            r#"client.execute("SET lock 1 NX PX 1000")"#,
            "SetOptions::default().conditional_set(ExistenceCheck::NX)",
            "static RELEASE: &str = \"if redis.call('GET', KEYS[1]) == ARGV[1]\";",
            "sqlx::query!(\"select pg_try_advisory_lock($1)\")",
            "sqlx::query(\"update jobs set done = true where id = $1\")",
            "client.lease_grant(ttl, None)",
            "diesel::update(jobs.find(id))",
            "// leaselint: allow(get-then-del)",
        ] {
            assert!(prefilter().is_match(text), "{text}");
        }
    }

    #[test]
    fn words_of_the_subject_alone_are_no_hits() {
        for text in [
            "//! A redis cache with leases, updated on every lock of the mutex.",
            "let guard = self.state.lock().unwrap(); guard.insert(key, value);",
            "// update the counter, delete the old entry and release the lease",
            "let version = package.version();",
        ] {
            assert!(!prefilter().is_match(text), "{text}");
        }
    }
}
