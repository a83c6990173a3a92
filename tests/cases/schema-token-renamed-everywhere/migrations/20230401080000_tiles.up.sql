CREATE TABLE tiles (
    id          BIGINT  PRIMARY KEY,
    etag        TEXT    NOT NULL,
    row_version BIGINT  NOT NULL DEFAULT 0,
    fence       BIGINT  NOT NULL DEFAULT 0
);
