CREATE TABLE ballast_tanks (
    ship BIGINT NOT NULL,
    tank SMALLINT NOT NULL,
    litres BIGINT NOT NULL DEFAULT 0,
    fencing_token INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (ship, tank)
);
