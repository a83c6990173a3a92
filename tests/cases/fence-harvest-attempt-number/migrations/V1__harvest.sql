CREATE TABLE harvests (
    id BIGSERIAL PRIMARY KEY,
    field TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'ready',
    attempt BIGINT NOT NULL DEFAULT 0,
    touched_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    result JSONB
);
