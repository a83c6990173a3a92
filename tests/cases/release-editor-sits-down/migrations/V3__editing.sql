CREATE TABLE editing (
    document_id BIGINT PRIMARY KEY,
    editor_session UUID NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);
