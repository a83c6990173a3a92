CREATE TABLE shadows (
    device_id     BIGINT PRIMARY KEY,
    desired       TEXT   NOT NULL,
    mode          TEXT   NOT NULL DEFAULT 'auto',
    fencing_token BIGINT NOT NULL DEFAULT 0
);
