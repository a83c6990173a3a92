CREATE TABLE flags (
    name            TEXT    PRIMARY KEY,
    enabled         BOOLEAN NOT NULL DEFAULT FALSE,
    min_app_version TEXT    NOT NULL DEFAULT '0.0.0',
    format_version  INT     NOT NULL DEFAULT 1,
    locked          BOOLEAN NOT NULL DEFAULT FALSE,
    payload         JSONB   NOT NULL DEFAULT '{}'
);

CREATE TABLE flag_history (
    flag     TEXT   NOT NULL REFERENCES flags (name),
    revision BIGINT NOT NULL,
    payload  JSONB  NOT NULL,
    PRIMARY KEY (flag, revision)
);
