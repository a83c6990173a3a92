CREATE TABLE saga_steps (
    saga          UUID    NOT NULL,
    number        INTEGER NOT NULL,
    action        TEXT    NOT NULL,
    state         TEXT    NOT NULL DEFAULT 'waiting',
    result        JSONB,
    claimed_by    UUID,
    claimed_until TIMESTAMPTZ,
    PRIMARY KEY (saga, number)
);
