CREATE TABLE edge_config (
    site TEXT PRIMARY KEY,
    body TEXT NOT NULL,
    fence BIGINT NOT NULL DEFAULT 0
);
