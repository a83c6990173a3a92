CREATE TABLE scheduler_slots (
    slot        VARCHAR(64)  NOT NULL,
    holder      CHAR(36)     NULL,
    lease_until DATETIME(6)  NULL,
    PRIMARY KEY (slot)
) ENGINE = InnoDB;
