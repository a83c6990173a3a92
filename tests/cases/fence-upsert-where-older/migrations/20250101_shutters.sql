CREATE TABLE shutters (
    house TEXT NOT NULL,
    window_nr INT NOT NULL,
    percent SMALLINT NOT NULL,
    lease_epoch BIGINT NOT NULL,
    PRIMARY KEY (house, window_nr)
);
