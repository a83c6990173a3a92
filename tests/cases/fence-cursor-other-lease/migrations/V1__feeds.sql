CREATE TABLE feed_leases (
    feed          TEXT        PRIMARY KEY,
    holder        UUID        NOT NULL,
    fencing_token BIGINT      NOT NULL,
    expires_at    TIMESTAMPTZ NOT NULL
);

CREATE TABLE feed_cursors (
    feed   TEXT   PRIMARY KEY,
    cursor TEXT   NOT NULL
);
