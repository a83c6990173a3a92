CREATE TABLE valves (
    id            BIGINT PRIMARY KEY,
    opening       INT    NOT NULL DEFAULT 0,
    fencing_token BIGINT NOT NULL DEFAULT 0
);
