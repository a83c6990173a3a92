CREATE TABLE transcodes (
    id        BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    source    VARCHAR(255)    NOT NULL,
    state     VARCHAR(16)     NOT NULL DEFAULT 'queued',
    picked_by CHAR(36)        NULL,
    picked_at DATETIME(6)     NULL,
    url       VARCHAR(255)    NULL,
    seconds   INT UNSIGNED    NULL,
    KEY transcodes_state (state, id)
);
