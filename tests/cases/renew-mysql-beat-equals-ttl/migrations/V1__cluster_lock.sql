CREATE TABLE cluster_lock (
    lock_name   VARCHAR(64)  NOT NULL,
    owner       CHAR(36)     NOT NULL,
    valid_until DATETIME(6)  NOT NULL,
    PRIMARY KEY (lock_name)
) ENGINE = InnoDB;
