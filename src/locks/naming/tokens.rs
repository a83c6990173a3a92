//! What a column's name says about being a fencing token: a count of holders, a version of the row, or a
//! number of some other kind. Usage has the last word, elsewhere.

use super::words::{has, words};

/// How sure a name makes us that the column fences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TokenTier {
    /// The word "fence" is in it.
    Fence,
    /// A lease's epoch, term, generation or token.
    Lease,
    /// A column made for optimistic locking.
    Version,
    /// `version`, `epoch`, `run_token` …: only a guarded write elsewhere makes it a token.
    Ambiguous,
    /// The name says nothing: a statement stores the number only while a smaller one is there.
    Usage,
}

const FENCE: &[&str] = &["fence", "fenced", "fencing"];
const LEASE_SCOPE: &[&str] = &[
    "lease",
    "lock",
    "leader",
    "leadership",
    "owner",
    "writer",
    "claim",
    "shard",
    "holder",
    "election",
    "permit",
];
const COUNTERS: &[&str] =
    &["epoch", "term", "generation", "gen", "seq", "sequence", "version", "token", "revision", "counter"];
const HIGHEST: &[&str] = &["last", "latest", "cur", "current", "max", "highest", "seen"];
const AMBIGUOUS: &[&str] =
    &["version", "epoch", "term", "generation", "gen", "revision", "rev", "seq", "token"];
/// What a count can end in besides.
const NUMBERS: &[&str] = &["no", "nr", "num", "number", "stamp", "ticket"];
/// What tokens that let somebody in are called after.
const SECRETS: &[&str] = &[
    "api",
    "access",
    "auth",
    "bearer",
    "csrf",
    "device",
    "id",
    "invite",
    "login",
    "password",
    "push",
    "refresh",
    "reset",
    "secret",
    "session",
    "user",
    "verification",
];
const MEASURES: &[&str] = &[
    "age",
    "amount",
    "balance",
    "best",
    "bid",
    "block",
    "bytes",
    "checkpoint",
    "count",
    "cursor",
    "height",
    "high",
    "highest",
    "index",
    "length",
    "level",
    "lsn",
    "max",
    "min",
    "offset",
    "peak",
    "percent",
    "pos",
    "position",
    "price",
    "priority",
    "progress",
    "quantity",
    "rank",
    "record",
    "score",
    "size",
    "slot",
    "step",
    "total",
    "watermark",
];
const VERSIONS: &[&str] = &[
    "lock_version",
    "row_version",
    "rowversion",
    "record_version",
    "db_record_version",
    "opt_lock",
    "optlock",
    "opt_lock_version",
    "optimistic_lock",
    "optimistic_lock_version",
    "occ_version",
    "state_gen",
    "state_generation",
    "range_id",
    "aggregate_version",
    "entity_version",
    "resource_version",
];
/// What a column about fencing ends in when it is not the token.
const NO_TOKEN: &[&str] = &["at", "by", "id", "reason", "until", "name", "holder", "owner", "type", "kind"];

/// What the name alone says.
pub fn token_tier(name: &str) -> Option<TokenTier> {
    let words = words(name);
    let last = words.last().map_or("", String::as_str);
    if has(&words, FENCE) {
        let other = NO_TOKEN.contains(&last) || words.iter().any(|w| w == "geo");
        return (!other).then_some(TokenTier::Fence);
    }
    if VERSIONS.contains(&words.join("_").as_str()) {
        return Some(TokenTier::Version);
    }
    let rest: Vec<&str> = words.iter().map(String::as_str).skip_while(|w| HIGHEST.contains(w)).collect();
    match rest.as_slice() {
        [scope, counter] if LEASE_SCOPE.contains(scope) && COUNTERS.contains(counter) => {
            Some(TokenTier::Lease)
        }
        [word] if AMBIGUOUS.contains(word) => Some(TokenTier::Ambiguous),
        _ => None,
    }
}

/// A name that a count of holders or writes can have, in words of its own: `run_token`, `grader_epoch`,
/// `writer_no`. So can many other things.
pub fn may_count_holders(name: &str) -> bool {
    let words = words(name);
    let Some((last, scope)) = words.split_last().filter(|(_, scope)| !scope.is_empty()) else { return false };
    let numbers = has(scope, LEASE_SCOPE) && NUMBERS.contains(&last.as_str());
    (COUNTERS.contains(&last.as_str()) || numbers) && !has(scope, SECRETS) && !has(scope, MEASURES)
}

/// Whether nothing in the name speaks against a token, and something for it.
pub fn may_be_token(name: &str) -> bool {
    token_tier(name).is_some() || may_count_holders(name)
}

/// What grows for reasons of its own: a later value is the better one, whoever brings it.
pub fn is_measure(name: &str) -> bool {
    let words = words(name);
    let says_how_many = words.len() > 1 && matches!(words[0].as_str(), "num" | "number" | "n");
    says_how_many || has(&words, MEASURES)
}

/// A name that leaves no doubt: `fencing_token`, `fence_epoch`; a lone `fence` may stand around a field.
pub fn is_fencing_token(name: &str) -> bool {
    let words = words(name);
    token_tier(name) == Some(TokenTier::Fence) && (has(&words, COUNTERS) || has(&words, &["fencing"]))
}
