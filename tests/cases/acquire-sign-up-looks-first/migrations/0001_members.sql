CREATE TABLE members (
    id UUID PRIMARY KEY,
    handle TEXT NOT NULL,
    mail TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'pending',
    created_at TIMESTAMPTZ NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX members_handle ON members (lower(handle));
