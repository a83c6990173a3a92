CREATE TABLE shard_leases (
    shard INTEGER PRIMARY KEY,
    owner UUID NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);
