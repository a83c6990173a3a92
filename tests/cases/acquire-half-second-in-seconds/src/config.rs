use std::time::Duration;

/// How long a buzzer stays with the player who hit it first.
pub const BUZZ: Duration = Duration::from_millis(750);
