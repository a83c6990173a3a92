CREATE TABLE devices (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    access_token TEXT,
    firmware_version TEXT,
    lock_reason TEXT
);
