CREATE TABLE station_lease (
    station  text PRIMARY KEY,
    daemon   uuid NOT NULL,
    ends     timestamptz NOT NULL
);
