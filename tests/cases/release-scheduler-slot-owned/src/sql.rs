//! All statements of this crate in one place.

pub const OCCUPY: &str = "UPDATE scheduler_slots
    SET holder = :holder, lease_until = NOW(6) + INTERVAL 60 SECOND
  WHERE slot = :slot
    AND (holder IS NULL OR lease_until < NOW(6))";

pub const PROLONG: &str = "UPDATE scheduler_slots
    SET lease_until = NOW(6) + INTERVAL 60 SECOND
  WHERE slot = :slot AND holder = :holder AND lease_until >= NOW(6)";

pub const VACATE: &str = "UPDATE scheduler_slots
    SET holder = NULL, lease_until = NULL
  WHERE slot = :slot AND holder = :holder";
