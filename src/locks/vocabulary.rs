//! Words that names of locks, and of keys that only look like locks, are made of.
//!
//! A name is split at underscores, punctuation and capitals; words match whole, so that `release` is found
//! in `release_lock` and `lease` is not found in `release`.

/// Words that say "lock" by themselves.
const LOCK: &[&str] = &[
    "lock",
    "locks",
    "locked",
    "locking",
    "locker",
    "unlock",
    "relock",
    "mutex",
    "lease",
    "leases",
    "leased",
    "leader",
    "leadership",
    "election",
    "elect",
    "campaign",
    "resign",
    "acquire",
    "acquired",
    "semaphore",
    "exclusive",
    "exclusion",
    "claim",
    "claims",
    "guard",
    "redlock",
    "singleton",
    "holder",
    "reserve",
    "reservation",
    "heartbeat",
    "critical",
    "mutual",
    "leasehold",
    "takeover",
    "lead",
    "trylock",
    "setlock",
    "getlock",
];

/// Words that agree with a lock and do not make one.
const HOLDING: &[&str] = &[
    "hold", "held", "take", "taken", "grab", "seize", "enter", "leave", "exit", "free", "give", "back",
    "release", "owner", "slot", "turn", "latch", "unlatch", "busy", "occupy", "vacate", "running", "gate",
    "keep", "begin", "end", "own", "mine", "seat", "stand", "work", "once", "active", "prolong", "extend",
    "renew", "session", "permit", "token", "run", "job",
];

/// Words of keys that are set once and are no locks.
const OTHER: &[&str] = &[
    "seen",
    "dedup",
    "dedupe",
    "duplicate",
    "duplicates",
    "nonce",
    "throttle",
    "throttled",
    "cooldown",
    "slowmode",
    "rate",
    "ratelimit",
    "limit",
    "limiter",
    "otp",
    "idempotency",
    "idempotent",
    "processed",
    "consumed",
    "used",
    "cache",
    "cached",
    "username",
    "register",
    "registration",
    "replay",
    "sample",
    "sampling",
    "verify",
    "verification",
    "csrf",
    "attempt",
    "attempts",
    "visited",
    "notified",
    "delivered",
    "delivery",
    "debounce",
    "quota",
    "captcha",
    "session",
    "sessions",
    "fingerprint",
    "memo",
    "bloom",
    "cookie",
    "login",
    "signup",
    "webhook",
    "anti",
    "jti",
    "burst",
];

/// Names of values that tell a holder apart.
const OWNER: &[&str] = &[
    "owner",
    "me",
    "who",
    "worker",
    "holder",
    "node",
    "instance",
    "mine",
    "token",
    "tok",
    "tag",
    "uuid",
    "nonce",
    "secret",
    "identity",
    "candidate",
    "myself",
    "self",
    "ident",
    "fence",
    "process",
    "pid",
    "host",
    "hostname",
    "agent",
    "client",
    "lockid",
    "rid",
    "request",
];

/// Functions that free a lock on an operator's word.
const RENEWAL: &[&str] = &[
    "renew",
    "renewal",
    "refresh",
    "extend",
    "prolong",
    "heartbeat",
    "keepalive",
    "touch",
    "reacquire",
    "again",
];

/// More such words in the names of settings.
const KEEPING: &[&str] = &["alive", "watchdog", "extension"];

const INTERVAL: &[&str] = &["interval", "period", "every", "cadence", "after"];

/// With a unit behind them, these say how often: `heartbeat_secs`.
const BEATING: &[&str] = &["heartbeat", "beat", "renew", "renewal", "refresh"];

const UNITS: &[&str] = &["secs", "seconds", "sec", "ms", "millis", "milliseconds"];

/// So long before the end something is done.
const BEFORE_END: &[&str] = &["grace", "before", "margin"];

/// Other times of a lease's life.
const OTHER_TIME: &[&str] =
    &["retry", "retries", "timeout", "deadline", "wait", "jitter", "backoff", "max", "min"];

/// Words of types and fields that are a lock or lease, or belong to one.
const LEASE: &[&str] =
    &["lock", "lease", "leader", "leadership", "election", "redlock", "mutex", "semaphore", "claim"];

/// Words that begin a question.
const ASKING: &[&str] = &[
    "is", "am", "are", "was", "has", "have", "had", "still", "check", "ensure", "assert", "verify",
    "require", "not", "been",
];

/// Answers that say of a lease, and of few other things, that it is held.
const HELD: &[&str] = &["held", "hold", "holds", "holding", "owned", "owns", "leading"];

/// Answers that say so of what is known to be a lease.
const GOOD: &[&str] = &["valid", "alive", "live", "active", "fresh", "current", "leader", "mine"];

/// Answers that say of a lease, and of few other things, that it is gone.
const LOST: &[&str] = &["lost", "lapsed", "revoked", "stolen"];

/// Answers that say so of what is known to be a lease.
const BAD: &[&str] = &["expired", "stale", "invalid", "dead", "over", "gone"];

const FORCED: &[&str] =
    &["force", "forced", "admin", "operator", "repair", "purge", "reset", "wipe", "flush", "steal", "break"];

pub fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut previous = ' ';
    for c in name.chars() {
        let starts = !c.is_alphanumeric() || (c.is_uppercase() && previous.is_lowercase());
        if starts && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        previous = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

fn any(name: &str, list: &[&str]) -> bool {
    words(name).iter().any(|word| list.contains(&word.as_str()))
}

/// A type or field that is a lock or lease, or belongs to one.
pub fn names_lease(name: &str) -> bool {
    any(name, LEASE)
}

pub fn says_lock(name: &str) -> bool {
    any(name, LOCK)
}

pub fn says_holding(name: &str) -> bool {
    any(name, HOLDING)
}

pub fn says_other(name: &str) -> bool {
    any(name, OTHER)
}

pub fn says_owner(name: &str) -> bool {
    any(name, OWNER)
}

/// Whether a function by this name keeps a lock alive.
pub fn says_renewal(name: &str) -> bool {
    any(name, RENEWAL)
}

/// Whether a setting by this name is the time between two renewals.
pub fn says_renewal_interval(name: &str) -> bool {
    let is_length = any(name, INTERVAL) || (any(name, BEATING) && any(name, UNITS));
    says_renewal_setting(name) && is_length && !any(name, BEFORE_END)
}

/// Whether a setting by this name is how long before the end a lease is renewed.
pub fn says_time_before_end(name: &str) -> bool {
    says_renewal_setting(name) && any(name, BEFORE_END)
}

pub fn says_other_time(name: &str) -> bool {
    any(name, OTHER_TIME)
}

fn says_renewal_setting(name: &str) -> bool {
    (says_renewal(name) || any(name, KEEPING)) && !says_other_time(name)
}

/// Whether a method, function or field by this name may ask whether a lease is still held, and what its yes
/// means. All words must take part: `is_valid_name` asks for something else.
pub fn asks_held(name: &str) -> Option<bool> {
    let words = words(name);
    let is_one = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let known = [ASKING, HELD, GOOD, LOST, BAD, LEASE].concat();
    if words.is_empty() || !words.iter().all(|word| known.contains(&word.as_str())) {
        return None;
    }
    let (good, bad) = (is_one(HELD) || is_one(GOOD), is_one(LOST) || is_one(BAD));
    let asks = is_one(ASKING);
    let negated = is_one(&["not"]);
    match (good, bad) {
        // `leader` alone is somebody's name.
        (true, false) if asks || is_one(HELD) => Some(!negated),
        (false, true) => Some(negated),
        // `ensure_lease` may take it.
        (false, false) if is_one(LEASE) && is_one(&["check", "assert", "verify"]) => Some(true),
        _ => None,
    }
}

/// Whether such a name is clear by itself, where the thing that is asked is called a lease.
pub fn says_held(name: &str) -> bool {
    any(name, HELD) || any(name, LOST) || (any(name, &["leader"]) && any(name, ASKING))
}

pub fn says_forced(name: &str) -> bool {
    any(name, FORCED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole() {
        assert_eq!(words("release_lock"), ["release", "lock"]);
        assert_eq!(words("JobGuard::tryTake"), ["job", "guard", "try", "take"]);
        assert!(says_lock("job-lock:{}"));
        assert!(!says_lock("mod:release:block"));
        assert!(says_other("webhook:seen:{}"));
    }

    #[test]
    fn questions_whether_a_lease_is_held() {
        for name in ["is_held", "still_held", "held", "is_lock_held", "owns_lock", "is_leader", "is_valid"] {
            assert_eq!(asks_held(name), Some(true), "{name}");
        }
        for name in ["ensure_held", "check_lease", "assert_leadership", "not_expired"] {
            assert_eq!(asks_held(name), Some(true), "{name}");
        }
        for name in ["is_lost", "has_expired", "lease_lost", "lost", "is_not_held"] {
            assert_eq!(asks_held(name), Some(false), "{name}");
        }
        for name in
            ["leader", "current", "is_valid_name", "lock", "lease", "is_empty", "active_jobs", "hold_on"]
        {
            assert_eq!(asks_held(name), None, "{name}");
        }
    }
}
