CREATE TABLE documents (
    id        BIGINT PRIMARY KEY,
    title     TEXT   NOT NULL,
    body      TEXT   NOT NULL,
    version   BIGINT NOT NULL DEFAULT 1,
    signed_by TEXT
);
