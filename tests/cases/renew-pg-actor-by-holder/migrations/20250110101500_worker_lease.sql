CREATE TABLE worker_lease (
    name        TEXT PRIMARY KEY,
    holder      UUID NOT NULL,
    expires_at  TIMESTAMPTZ NOT NULL
);
