CREATE TABLE exports (
    id         BIGSERIAL PRIMARY KEY,
    report     TEXT NOT NULL,
    state      TEXT NOT NULL DEFAULT 'pending',
    attempt    BIGINT NOT NULL DEFAULT 0,
    started_at TIMESTAMPTZ,
    url        TEXT
);
