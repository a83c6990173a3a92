//! What the name of a call promises to do to a lock. A promise only: it makes proposals, never a verdict.

/// What a wrapper's call seems to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verb {
    SetIfAbsent,
    Lock,
    Get,
    Extend,
    Expire,
    Unlock,
    Delete,
}

impl Verb {
    /// Whether it takes a lock. What has no such call is no store of locks that anybody could tell.
    pub(super) fn takes(self) -> bool {
        matches!(self, Self::SetIfAbsent | Self::Lock)
    }
}

const LOCKS: &[&str] = &["acquire", "lock", "obtain", "claim", "grab"];
const UNLOCKS: &[&str] = &["release", "unlock", "free", "relinquish"];
const EXTENDS: &[&str] = &["renew", "extend", "refresh", "prolong", "heartbeat", "keepalive"];
const EXPIRES: &[&str] = &["expire", "pexpire", "expiry"];
const DELETES: &[&str] = &["delete", "del", "remove", "drop", "unset", "unlink"];
const GETS: &[&str] = &["get", "fetch", "read", "load", "owner"];
const SETS: &[&str] = &["set", "put", "insert", "add", "create", "store", "write"];
/// Words that may stand beside the verb.
const BESIDE: &[&str] =
    &["try", "lock", "lease", "key", "value", "owner", "of", "for", "with", "ttl", "the", "async", "my"];

/// What the name says, if every word of it agrees.
pub(super) fn verb(name: &str) -> Option<Verb> {
    let words: Vec<&str> = name.split('_').filter(|word| !word.is_empty()).collect();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(word));
    let absent = name.contains("if_absent")
        || name.contains("if_not_exists")
        || name.contains("if_missing")
        || has(&["nx", "setnx"]);
    if absent && (has(SETS) || has(&["nx", "setnx"])) {
        return Some(Verb::SetIfAbsent);
    }
    let is_only =
        |known: &[&str]| has(known) && words.iter().all(|word| known.contains(word) || BESIDE.contains(word));
    // `release_lock` frees, so `lock` comes last.
    let all = [
        (UNLOCKS, Verb::Unlock),
        (EXTENDS, Verb::Extend),
        (EXPIRES, Verb::Expire),
        (DELETES, Verb::Delete),
        (GETS, Verb::Get),
        (LOCKS, Verb::Lock),
    ];
    let set_expiry = words.first() == Some(&"set") && has(&["ttl", "expiry", "expire"]);
    let found = all.into_iter().find(|(known, _)| is_only(known)).map(|(_, verb)| verb);
    found.or_else(|| set_expiry.then_some(Verb::Expire))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_they_promise() {
        for (name, expected) in [
            ("put_if_absent", Some(Verb::SetIfAbsent)),
            ("set_nx", Some(Verb::SetIfAbsent)),
            ("try_lock", Some(Verb::Lock)),
            ("acquire_lock", Some(Verb::Lock)),
            ("acquire", Some(Verb::Lock)),
            ("release_lock", Some(Verb::Unlock)),
            ("drop_key", Some(Verb::Delete)),
            ("renew", Some(Verb::Extend)),
            ("set_ttl", Some(Verb::Expire)),
            ("get_owner", Some(Verb::Get)),
            ("get", Some(Verb::Get)),
            ("acquire_many", None),
            ("remove_file", None),
            ("get_or_insert", None),
            ("insert", None),
            ("", None),
        ] {
            assert_eq!(verb(name), expected, "{name}");
        }
    }
}
