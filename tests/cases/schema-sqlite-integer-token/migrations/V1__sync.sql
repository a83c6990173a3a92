CREATE TABLE sync_leases (
    name          TEXT    PRIMARY KEY,
    holder        TEXT    NOT NULL,
    fencing_token INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL
) STRICT;

CREATE TABLE prices (
    article       TEXT    PRIMARY KEY,
    cents         INTEGER NOT NULL,
    fencing_token INTEGER NOT NULL DEFAULT 0
) STRICT;
