CREATE TABLE seat (
    name TEXT PRIMARY KEY NOT NULL,
    sitter TEXT,
    free_at INTEGER NOT NULL DEFAULT 0
);
INSERT INTO seat (name) VALUES ('indexer'), ('thumbnails'), ('mailer');
