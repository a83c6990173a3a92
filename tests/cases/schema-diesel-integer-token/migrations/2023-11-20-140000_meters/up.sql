CREATE TABLE meters (
    id            BIGSERIAL PRIMARY KEY,
    serial        TEXT      NOT NULL UNIQUE,
    reading       BIGINT    NOT NULL DEFAULT 0,
    fencing_token INTEGER   NOT NULL DEFAULT 0
);
