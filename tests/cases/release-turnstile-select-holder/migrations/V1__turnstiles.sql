CREATE TABLE turnstiles (
    name VARCHAR(80) NOT NULL PRIMARY KEY,
    holder CHAR(36) NOT NULL,
    until_at DATETIME(6) NOT NULL
) ENGINE=InnoDB;
