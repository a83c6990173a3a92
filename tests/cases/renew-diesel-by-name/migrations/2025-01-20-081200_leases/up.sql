CREATE TABLE leases (
    name VARCHAR PRIMARY KEY,
    holder UUID NOT NULL,
    valid_until TIMESTAMPTZ NOT NULL
);
