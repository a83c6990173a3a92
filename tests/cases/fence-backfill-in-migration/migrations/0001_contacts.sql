CREATE TABLE contacts (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    phone TEXT,
    version INTEGER NOT NULL DEFAULT 0
);
