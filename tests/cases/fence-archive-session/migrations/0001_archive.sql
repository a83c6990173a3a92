CREATE TABLE messages (
    id       BIGINT PRIMARY KEY,
    body     TEXT NOT NULL,
    archived BOOLEAN NOT NULL DEFAULT FALSE
);

CREATE TABLE archive_state (
    shard       SMALLINT PRIMARY KEY,
    archived_to BIGINT   NOT NULL DEFAULT 0
);
