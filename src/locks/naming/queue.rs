//! What names say about a queue of work: the states of its rows, the times at which they fall due, and the
//! signs of life of those who work on them. It decides nothing by them.

use super::{has, words};

/// A state of work that waits for a worker.
pub fn is_waiting_state(value: &str) -> bool {
    let waits = [
        "waiting",
        "wait",
        "queued",
        "enqueued",
        "requeued",
        "pending",
        "ready",
        "new",
        "open",
        "todo",
        "idle",
        "free",
        "available",
        "unclaimed",
        "unassigned",
        "unlocked",
        "released",
        "scheduled",
        "rescheduled",
        "retry",
        "retryable",
        "retrying",
        "backlog",
    ];
    has(&words(value), &waits)
}

/// A state of work that a worker has.
pub fn is_running_state(value: &str) -> bool {
    let runs = [
        "running",
        "processing",
        "progress",
        "active",
        "started",
        "starting",
        "executing",
        "working",
        "busy",
        "leased",
        "locked",
        "claimed",
        "picked",
        "taken",
        "reserved",
        "acquired",
        "assigned",
        "flight",
        "inflight",
        "sending",
        "delivering",
    ];
    has(&words(value), &runs)
}

/// A state by which somebody asks the worker that has the row for something: `should_stop`, `cancelling`.
pub fn is_request_state(value: &str) -> bool {
    let words = words(value);
    let asks = ["should", "request", "requested", "requesting", "wants", "must"];
    let acts = [
        "stop",
        "stopping",
        "cancel",
        "cancelling",
        "canceling",
        "abort",
        "aborting",
        "terminate",
        "terminating",
        "kill",
        "killing",
        "pause",
        "pausing",
        "suspend",
        "suspending",
        "interrupt",
        "interrupting",
        "drain",
        "draining",
        "shutdown",
    ];
    has(&words, &asks) || has(&words, &acts)
}

/// A time from which work may be taken: `next_run_at`, `scheduled_for`, `available_at`.
pub fn is_due_time(name: &str) -> bool {
    let due = [
        "run",
        "runs",
        "next",
        "schedule",
        "scheduled",
        "due",
        "available",
        "visible",
        "retry",
        "eligible",
        "before",
        "after",
        "created",
        "inserted",
        "enqueued",
        "queued",
        "submitted",
        "delay",
        "delayed",
    ];
    has(&words(name), &due)
}

/// A time at which a worker was last heard of.
pub fn is_sign_of_life(name: &str) -> bool {
    let signs = [
        "heartbeat",
        "heartbeats",
        "beat",
        "keepalive",
        "ping",
        "pinged",
        "alive",
        "contact",
        "seen",
        "activity",
        "progress",
    ];
    has(&words(name), &signs)
}

/// A time at which a worker began with a row.
pub fn is_start_time(name: &str) -> bool {
    has(
        &words(name),
        &["started", "start", "begun", "began", "picked", "claimed", "taken", "dequeued", "since"],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_and_times_are_told_apart_by_their_words() {
        assert!(is_waiting_state("Waiting") && is_waiting_state("re_queued_retry"));
        assert!(is_running_state("in_progress") && is_running_state("in-flight"));
        assert!(!is_waiting_state("running") && !is_running_state("waiting"));
        assert!(is_due_time("next_run_at") && is_due_time("scheduled_for") && !is_due_time("end_time"));
        assert!(is_sign_of_life("last_ping") && !is_sign_of_life("shipping_at"));
        assert!(is_request_state("should-stop") && is_request_state("CancelRequested"));
        assert!(!is_request_state("stopped") && !is_request_state("cancelled"));
        assert!(is_start_time("start_time") && !is_start_time("restarts"));
    }
}
