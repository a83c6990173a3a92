diesel::table! {
    shard_leases (shard) {
        shard -> Int4,
        owner -> Uuid,
        expires_at -> Timestamptz,
    }
}
