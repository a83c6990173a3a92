CREATE TABLE chargers (
    id            BIGINT UNSIGNED NOT NULL PRIMARY KEY,
    target        VARCHAR(32)     NOT NULL,
    fencing_token BIGINT          NOT NULL DEFAULT 0
);
