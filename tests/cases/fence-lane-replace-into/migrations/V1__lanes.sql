CREATE TABLE lanes (
    lane          INT UNSIGNED    NOT NULL,
    truck         VARCHAR(16)     NOT NULL,
    ready_at      DATETIME(3)     NOT NULL,
    fencing_token BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (lane)
);

CREATE TABLE lane_history (
    id       BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    lane     INT UNSIGNED    NOT NULL,
    truck    VARCHAR(16)     NOT NULL,
    noted_at DATETIME(3)     NOT NULL DEFAULT CURRENT_TIMESTAMP(3)
);
