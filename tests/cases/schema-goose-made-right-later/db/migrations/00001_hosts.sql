-- +goose Up
CREATE TABLE hosts (
    name          TEXT PRIMARY KEY,
    delay_ms      INT  NOT NULL DEFAULT 1000,
    fencing_token BIGINT
);

CREATE TABLE host_locks (
    host       TEXT        NOT NULL,
    owner      UUID        NOT NULL,
    token      BIGINT      NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);

-- +goose Down
DROP TABLE host_locks;
DROP TABLE hosts;
