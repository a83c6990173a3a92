CREATE TABLE notes (
    id UUID PRIMARY KEY,
    owner UUID NOT NULL,
    text TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'open',
    deleted_at TIMESTAMPTZ,
    updated_at TIMESTAMPTZ NOT NULL DEFAULT now()
);
CREATE TABLE audit (
    id BIGSERIAL PRIMARY KEY,
    note UUID NOT NULL,
    actor UUID NOT NULL,
    action TEXT NOT NULL,
    detail JSONB,
    at TIMESTAMPTZ NOT NULL DEFAULT now()
);
