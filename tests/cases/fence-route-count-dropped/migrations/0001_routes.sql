CREATE TABLE routes (
    host          TEXT   PRIMARY KEY,
    backend       TEXT   NOT NULL,
    weight        INT    NOT NULL DEFAULT 100,
    fencing_token BIGINT NOT NULL DEFAULT 0
);
