CREATE TABLE renders (
    id            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    scene         TEXT NOT NULL,
    state         TEXT NOT NULL DEFAULT 'pending',
    claim_token   UUID,
    claimed_until TIMESTAMPTZ,
    output        TEXT,
    problem       TEXT
);
