CREATE TABLE delivery (
    id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    url              text NOT NULL,
    body             text NOT NULL,
    status           text NOT NULL DEFAULT 'queued',
    claim_id         uuid,
    lease_expires_at timestamptz
);
