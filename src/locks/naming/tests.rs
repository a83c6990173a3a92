//! Names and what they say.

use super::*;

#[test]
fn tokens_are_told_from_their_false_friends() {
    use TokenTier::*;
    for (name, tier) in [
        ("fencing_token", Some(Fence)),
        ("last_fencing_token", Some(Fence)),
        ("lastFencingToken", Some(Fence)),
        ("fencingtoken", Some(Fence)),
        ("room_fencing_token", Some(Fence)),
        ("fence", Some(Fence)),
        ("fenced_at", None),
        ("geo_fence", None),
        ("lease_epoch", Some(Lease)),
        ("last_leader_term", Some(Lease)),
        ("lock_version", Some(Version)),
        ("LockVersion", Some(Version)),
        ("rcgen", None),
        ("version", Some(Ambiguous)),
        ("last_token", Some(Ambiguous)),
        ("access_token", None),
        ("csrf_token", None),
        ("schema_version", None),
        ("minimum_epoch", None),
        ("emit_at_time_since_gps_epoch", None),
        ("release_version", None),
        ("placeholder", None),
    ] {
        assert_eq!(token_tier(name), tier, "{name}");
    }
}

#[test]
fn lease_columns_are_told_by_their_words() {
    for name in [
        "locked_by",
        "lock_owner",
        "lease_owner",
        "claim_token",
        "lease_token",
        "holder",
        "leader_id",
        "lockedBy",
        "holder_identity",
    ] {
        assert!(is_owner(name), "{name}");
    }
    for name in [
        "owner",
        "blocked_by",
        "placeholder",
        "updated_by",
        "released_by",
        "locked_at",
        "locked_until",
        "doorkeeper_owner",
    ] {
        assert!(!is_owner(name), "{name}");
    }
    for name in ["locked_until", "lease_expires_at", "held_until", "claim_expires_at", "lease_expiration"] {
        assert!(is_deadline(name), "{name}");
    }
    for name in ["locked", "expires_at", "updated_at", "lifespan"] {
        assert!(!is_deadline(name), "{name}");
    }
    assert!(is_claim_time("lock_at") && is_claim_time("lastHeartbeatAt") && !is_claim_time("created_at"));
    assert!(
        is_audit("updated_at") && is_audit("last_modified") && !is_audit("sent_at") && !is_audit("locked_by")
    );
}

#[test]
fn lock_tables_are_told_by_whole_words() {
    assert!(is_lock_table("job_leases") && is_lock_table("shedlock") && is_lock_table("river_leader"));
    assert!(!is_lock_table("mod_lock_post") && !is_lock_table("person_block") && !is_lock_table("releases"));
    assert!(
        is_integer_type("bigint unsigned")
            && is_integer_type("NUMERIC(20,0)")
            && !is_integer_type("interval")
            && !is_integer_type("uuid")
    );
}
