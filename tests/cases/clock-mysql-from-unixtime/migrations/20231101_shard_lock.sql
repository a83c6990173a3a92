CREATE TABLE shard_lock (
    shard       INT UNSIGNED NOT NULL PRIMARY KEY,
    owner       CHAR(36) NOT NULL,
    valid_until TIMESTAMP(3) NOT NULL DEFAULT '2000-01-01 00:00:00.000'
);
