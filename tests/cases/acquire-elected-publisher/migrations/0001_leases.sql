CREATE TABLE leases (
    name       TEXT PRIMARY KEY,
    holder     UUID,
    expires_at TIMESTAMPTZ NOT NULL DEFAULT now()
);

INSERT INTO leases (name) VALUES ('price-publisher');
