CREATE TABLE exports (
    id         BIGSERIAL PRIMARY KEY,
    report     TEXT NOT NULL,
    state      TEXT NOT NULL DEFAULT 'pending',
    worker     UUID,
    started_at TIMESTAMPTZ,
    url        TEXT
);
CREATE INDEX exports_pending ON exports (id) WHERE state = 'pending';
