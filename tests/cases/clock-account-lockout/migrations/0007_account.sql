CREATE TABLE account (
    id            UUID PRIMARY KEY,
    email         TEXT NOT NULL UNIQUE,
    password      TEXT NOT NULL,
    failed_logins INT NOT NULL DEFAULT 0,
    locked_until  TIMESTAMPTZ
);
