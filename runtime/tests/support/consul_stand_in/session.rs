//! Sessions of the stand-in for Consul: what was asked for, and when they end.

use std::time::{Duration, Instant};

use serde_json::Value;

pub struct Session {
    pub ttl_as_given: String,
    ttl: Duration,
    pub lock_delay: Duration,
    /// Whether its keys are deleted when it ends, or only freed.
    pub deletes: bool,
    ends: Instant,
}

impl Session {
    pub fn new(asked: &Value) -> Self {
        let ttl_as_given = asked["TTL"].as_str().unwrap_or_default().to_owned();
        let ttl = duration(&ttl_as_given).unwrap_or_default();
        let lock_delay = asked["LockDelay"].as_str().and_then(duration).unwrap_or(Duration::from_secs(15));
        let deletes = asked["Behavior"] == "delete";
        let lock_delay = lock_delay.min(Duration::from_secs(60));
        let mut session = Self { ttl_as_given, ttl, lock_delay, deletes, ends: Instant::now() };
        session.restart_timer();
        session
    }

    /// Consul waits for twice the TTL.
    pub fn restart_timer(&mut self) {
        self.ends = Instant::now() + 2 * self.ttl;
    }

    pub fn is_due(&self) -> bool {
        self.ends <= Instant::now()
    }
}

/// Durations as Go writes them, with one unit.
pub fn duration(text: &str) -> Option<Duration> {
    let unit = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(unit);
    let number: f64 = number.parse().ok()?;
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    Some(Duration::from_secs_f64(number * seconds))
}
