CREATE TABLE scans (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'busy', 'ok', 'bad')),
    findings TEXT,
    busy_since INTEGER
);
