CREATE TABLE tick_lease (
    schedule   TEXT PRIMARY KEY,
    holder     UUID NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE run (
    id         BIGSERIAL PRIMARY KEY,
    schedule   TEXT NOT NULL,
    due        TIMESTAMPTZ NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    UNIQUE (schedule, due)
);
