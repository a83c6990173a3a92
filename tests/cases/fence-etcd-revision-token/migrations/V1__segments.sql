CREATE TABLE segments (
    id            BIGINT      PRIMARY KEY,
    uri           TEXT        NOT NULL,
    fencing_token BIGINT      NOT NULL DEFAULT 0,
    written_at    TIMESTAMPTZ NOT NULL DEFAULT now()
);
