CREATE TABLE app_locks (
    id BIGSERIAL PRIMARY KEY,
    lock_name TEXT NOT NULL,
    owner UUID NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);
