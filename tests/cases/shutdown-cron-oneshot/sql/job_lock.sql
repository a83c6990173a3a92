CREATE TABLE job_lock (
    job    VARCHAR(64) NOT NULL PRIMARY KEY,
    run_id CHAR(36)    NOT NULL,
    until  DATETIME(3) NOT NULL
);
