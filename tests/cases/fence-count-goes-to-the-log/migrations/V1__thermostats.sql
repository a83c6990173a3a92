CREATE TABLE thermostats (
    id BIGINT PRIMARY KEY,
    target_millidegrees INT NOT NULL
);
