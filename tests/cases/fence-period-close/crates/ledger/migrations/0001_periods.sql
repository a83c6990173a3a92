CREATE TABLE periods (
    id              BIGINT PRIMARY KEY,
    status          TEXT   NOT NULL DEFAULT 'open',
    closing_balance BIGINT,
    closed_at       TIMESTAMPTZ,
    fencing_token   BIGINT NOT NULL DEFAULT 0
);
