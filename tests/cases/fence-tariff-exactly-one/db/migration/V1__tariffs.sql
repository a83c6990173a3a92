CREATE TABLE tariffs (
    id            BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    zone          VARCHAR(32)     NOT NULL,
    cents_per_kwh INT             NOT NULL,
    fencing_token BIGINT UNSIGNED NOT NULL DEFAULT 0,
    PRIMARY KEY (id),
    UNIQUE KEY tariffs_zone (zone)
) ENGINE = InnoDB;
