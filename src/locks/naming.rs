//! What a column's or table's name says about its part in locking, by its words.
//!
//! Names are cut into words (`lastFencingToken`, `lock_version`), never searched for parts, so that
//! `release`, `blocked` and `placeholder` say nothing. A name alone convicts nobody: the callers add
//! types, keys and usage.

pub mod queue;
mod tokens;
mod words;

pub use tokens::{TokenTier, is_fencing_token, is_measure, may_be_token, may_count_holders, token_tier};
pub use words::words;
use words::{has, pair};

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
    ["at", "time", "ts", "timestamp", "on", "date", "until", "since"].contains(&last)
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
