CREATE TABLE lease (
    resource    text PRIMARY KEY,
    owner_id    uuid NOT NULL,
    epoch       bigint NOT NULL DEFAULT 0,
    valid_until timestamptz NOT NULL
);

CREATE TABLE ledger_period (
    period      date PRIMARY KEY,
    closed      boolean NOT NULL DEFAULT false,
    total_cents bigint NOT NULL DEFAULT 0,
    epoch       bigint NOT NULL DEFAULT 0
);
