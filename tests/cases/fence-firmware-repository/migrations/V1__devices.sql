CREATE TABLE devices (
    id            BIGINT PRIMARY KEY,
    firmware      TEXT   NOT NULL,
    slot          TEXT   NOT NULL DEFAULT 'a',
    last_seen_at  TIMESTAMPTZ,
    fencing_token BIGINT NOT NULL DEFAULT 0
);
