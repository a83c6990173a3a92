CREATE TABLE backup_lease (
    host_group VARCHAR(40) NOT NULL PRIMARY KEY,
    runner     CHAR(36)    NOT NULL,
    until      DATETIME(3) NOT NULL
);
