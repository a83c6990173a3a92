//! What a column's or table's name says about its part in locking, by its words.
//!
//! Names are cut into words (`lastFencingToken`, `lock_version`), never searched for parts, so that
//! `release`, `blocked` and `placeholder` say nothing. A name alone convicts nobody: the callers add
//! types, keys and usage.

pub mod queue;

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
const LEASE_SCOPE: &[&str] =
    &["lease", "lock", "leader", "leadership", "owner", "writer", "claim", "shard", "holder", "election"];
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

/// Words that are written together in names that are folded to lower case.
const VOCABULARY: &[&str] = &[
    "fencing",
    "fence",
    "token",
    "lock",
    "locked",
    "lease",
    "leased",
    "claim",
    "claimed",
    "version",
    "owner",
    "holder",
    "until",
    "expires",
    "at",
    "by",
    "last",
    "epoch",
    "updated",
    "row",
    "leader",
    "heartbeat",
    "attempt",
];

/// The words of a name in lower case.
pub fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut last_lower = false;
    for c in name.chars() {
        let breaks = !c.is_alphanumeric() || (c.is_uppercase() && last_lower);
        if breaks && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        last_lower = c.is_lowercase() || c.is_ascii_digit();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words.into_iter().flat_map(|w| segmented(&w).unwrap_or_else(|| vec![w])).collect()
}

/// `fencingtoken` as two words, when all of it is made of words we know.
fn segmented(word: &str) -> Option<Vec<String>> {
    if word.len() < 8 || word.len() > 40 || VOCABULARY.contains(&word) {
        return None;
    }
    let mut best: Vec<Option<Vec<String>>> = vec![None; word.len() + 1];
    best[0] = Some(Vec::new());
    for at in 0..word.len() {
        let Some(done) = best[at].clone() else { continue };
        for next in VOCABULARY {
            let fits = word.get(at..).is_some_and(|rest| rest.starts_with(next));
            if fits && best[at + next.len()].is_none() {
                let mut list = done.clone();
                list.push((*next).to_owned());
                best[at + next.len()] = Some(list);
            }
        }
    }
    best.pop().flatten().filter(|list| list.len() > 1)
}

fn has(words: &[String], list: &[&str]) -> bool {
    words.iter().any(|w| list.contains(&w.as_str()))
}

/// Whether a word of the first list stands right before a word of the second.
fn pair(words: &[String], first: &[&str], second: &[&str]) -> bool {
    words.windows(2).any(|w| first.contains(&w[0].as_str()) && second.contains(&w[1].as_str()))
}

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
    has(&words(name), MEASURES)
}

/// A name that leaves no doubt: `fencing_token`, `fence_epoch`; a lone `fence` may stand around a field.
pub fn is_fencing_token(name: &str) -> bool {
    let words = words(name);
    token_tier(name) == Some(TokenTier::Fence) && (has(&words, COUNTERS) || has(&words, &["fencing"]))
}

const HELD: &[&str] = &[
    "lock", "locked", "lease", "leased", "claim", "claimed", "picked", "reserved", "acquired", "held",
    "hold", "taken", "leader",
];

/// A column that names who holds the row.
pub fn is_owner(name: &str) -> bool {
    let words = words(name);
    let holds = ["by", "owner", "holder", "token", "process", "worker", "instance", "id", "node", "value"];
    let alone = ["holder", "leader", "lockholder", "leaseholder"];
    pair(&words, HELD, &holds) && !has(&words, &["at", "until", "expires"])
        || alone.contains(&words.first().map_or("", String::as_str))
            && words.iter().skip(1).all(|w| ["id", "identity", "name", "token"].contains(&w.as_str()))
}

/// A column that names a holder where the rest of the table speaks of a lock.
pub fn is_weak_owner(name: &str) -> bool {
    let joined = words(name).join("_");
    let list = [
        "owner",
        "owner_id",
        "owner_token",
        "token",
        "worker",
        "worker_id",
        "instance",
        "instance_id",
        "node_id",
        "value",
        "process_id",
        "session_id",
    ];
    // `queue_worker_id`, `runner_instance_id`: the worker with something in front.
    let ends = ["worker_id", "worker", "instance_id", "runner_id"];
    list.contains(&joined.as_str()) || ends.iter().any(|end| joined.ends_with(&format!("_{end}")))
}

const ENDS: &[&str] =
    &["until", "expires", "expire", "expiry", "expiration", "deadline", "timeout", "expired"];

/// A column that says until when a holder holds.
pub fn is_deadline(name: &str) -> bool {
    let words = words(name);
    let scope = [HELD, &["visible", "visibility", "invisible", "lockout"]].concat();
    pair(&words, &scope, ENDS)
}

/// A deadline by name where the rest of the table speaks of a lock.
pub fn is_weak_deadline(name: &str) -> bool {
    let words = words(name);
    let joined = words.join("_");
    [
        "expires_at",
        "expires",
        "expire",
        "expiry",
        "expire_at",
        "expiration",
        "valid_until",
        "deadline",
        "until",
    ]
    .contains(&joined.as_str())
}

/// A column that says when a holder took the row or last showed itself.
pub fn is_claim_time(name: &str) -> bool {
    let words = words(name);
    let renewed =
        has(&words, &["heartbeat", "heartbeats", "keepalive"]) || words.join("_").starts_with("last_renewed");
    let taken =
        pair(&words, HELD, &["at", "time", "ts", "on"]) || pair(&words, &["time"], &["leased", "locked"]);
    renewed || taken || ["picked_up_at", "elected_at", "last_seen_at"].contains(&words.join("_").as_str())
}

/// A point in time of any meaning.
pub fn is_time(name: &str) -> bool {
    let words = words(name);
    let last = words.last().map_or("", String::as_str);
    ["at", "time", "ts", "timestamp", "on", "date", "until"].contains(&last)
        || is_deadline(name)
        || is_claim_time(name)
        || is_weak_deadline(name)
}

pub fn is_state(name: &str) -> bool {
    let words = words(name);
    ["state", "status", "phase"].contains(&words.last().map_or("", String::as_str))
}

/// A column that only the row's attempts move, such as `attempts`.
pub fn is_attempt(name: &str) -> bool {
    has(&words(name), &["attempt", "attempts", "tries", "retries", "retry", "run", "runs"])
}

/// Bookkeeping that says nothing a stale writer could harm.
pub fn is_audit(name: &str) -> bool {
    let words = words(name);
    let changed =
        ["updated", "modified", "changed", "touched", "mtime", "update", "modification", "accessed", "seen"];
    let first = words.iter().find(|w| *w != "last").map_or("", String::as_str);
    changed.contains(&first)
        && words.iter().skip(1).all(|w| {
            ["at", "by", "on", "time", "ts", "date", "updated", "modified", "changed", "seen", "accessed"]
                .contains(&w.as_str())
        })
}

/// A column that marks work as over: `sent_at`, `done`, `completed_at`.
pub fn is_finish_mark(name: &str) -> bool {
    let done = [
        "done",
        "completed",
        "finished",
        "processed",
        "sent",
        "delivered",
        "published",
        "handled",
        "acked",
        "succeeded",
        "failed",
        "dispatched",
        "result",
    ];
    has(&words(name), &done)
}

/// A state that nothing leaves.
pub fn is_terminal_state(value: &str) -> bool {
    let done = [
        "done",
        "completed",
        "complete",
        "finished",
        "failed",
        "dead",
        "cancelled",
        "canceled",
        "succeeded",
        "success",
        "expired",
        "killed",
        "discarded",
        "archived",
        "error",
        "sent",
        "delivered",
        "closed",
        "aborted",
        "acked",
    ];
    has(&words(value), &done)
}

/// A state that a user gives, not a worker.
pub fn is_user_state(value: &str) -> bool {
    has(
        &words(value),
        &["cancelled", "canceled", "cancelling", "paused", "disabled", "archived", "deleted", "aborted"],
    )
}

/// A table whose name says that its rows are locks.
pub fn is_lock_table(name: &str) -> bool {
    let lock = [
        "lock",
        "locks",
        "lease",
        "leases",
        "leader",
        "leaders",
        "leadership",
        "mutex",
        "mutexes",
        "shedlock",
        "semaphore",
        "semaphores",
        "election",
        "elections",
    ];
    // `mod_lock_post` is about posts that moderators lock.
    has(&words(name), &lock) && !has(&words(name), &["mod", "account", "user", "users"])
}

/// A lock table with one row for each lock: no record of past locks, no queue, no set of permits.
pub fn names_exclusive_locks(table: &str) -> bool {
    let others = [
        "history",
        "log",
        "logs",
        "event",
        "events",
        "audit",
        "archive",
        "queue",
        "waiter",
        "waiters",
        "request",
        "requests",
        "attempt",
        "attempts",
        "semaphore",
        "semaphores",
        "permit",
        "permits",
        "reader",
        "readers",
        "shared",
    ];
    !has(&words(table), &others)
}

/// A column that says how a lock is held, where several may hold it.
pub fn is_lock_mode(column: &str) -> bool {
    let joined = words(column).join("_");
    ["mode", "lock_mode", "lock_type", "is_shared", "shared", "exclusive", "is_exclusive", "permits", "slot"]
        .contains(&joined.as_str())
}

/// `lock_id`: in a table of locks, the lock's own name, where elsewhere it would name a holder.
pub fn is_lock_id(column: &str) -> bool {
    let words = words(column);
    let [lock, id] = words.as_slice() else { return false };
    ["lock", "lease", "mutex"].contains(&lock.as_str()) && ["id", "name", "key"].contains(&id.as_str())
}

/// A column that names the thing that is locked.
pub fn is_lock_name(column: &str) -> bool {
    let words = words(column);
    let kinds =
        ["name", "key", "resource", "lock", "job", "task", "shard", "partition", "scope", "topic", "entity"];
    // `lock_id` names a lock; `id` may be the number of a row.
    has(&words, &kinds)
}

/// A table of people or their devices: what is locked there is an account.
pub fn is_account_table(name: &str) -> bool {
    let accounts = [
        "user",
        "users",
        "account",
        "accounts",
        "member",
        "members",
        "customer",
        "customers",
        "device",
        "devices",
        "login",
        "logins",
    ];
    words(name).last().is_some_and(|w| accounts.contains(&w.as_str()))
}

/// A function that acts on purpose against whoever holds the row.
pub fn is_administrative(function: &str) -> bool {
    let acts = [
        "force", "forced", "admin", "operator", "repair", "gc", "reap", "reaper", "sweep", "sweeper",
        "vacuum", "purge", "prune", "cleanup", "clean", "expire", "evict", "cancel", "pause", "requeue",
        "rescue", "recover", "override",
    ];
    has(&words(function), &acts)
}

pub fn is_integer_type(data_type: &str) -> bool {
    let ty = data_type.trim().to_ascii_lowercase();
    let starts = [
        "int",
        "bigint",
        "smallint",
        "tinyint",
        "mediumint",
        "serial",
        "bigserial",
        "numeric",
        "decimal",
        "number",
        "unsigned",
        "big_integer",
        "xid8",
        "i64",
        "u64",
        "i32",
    ];
    starts.iter().any(|s| ty.starts_with(s)) && !ty.starts_with("interval")
}

/// A function that reads the database's own clock.
pub fn is_database_clock(function: &str) -> bool {
    [
        "now",
        "clock_timestamp",
        "current_timestamp",
        "statement_timestamp",
        "unix_timestamp",
        "datetime",
        "unixepoch",
        "sysdate",
        "utc_timestamp",
    ]
    .contains(&function)
}

#[cfg(test)]
mod tests;
