CREATE TABLE IF NOT EXISTS scan_job (
    id           INTEGER PRIMARY KEY,
    path         TEXT NOT NULL,
    state        TEXT NOT NULL DEFAULT 'new',
    claimed_by   TEXT,
    locked_until INTEGER NOT NULL DEFAULT 0,
    text         TEXT
);
