CREATE TABLE beacons (
    id BIGINT PRIMARY KEY,
    colour TEXT NOT NULL DEFAULT 'white',
    last_revision BIGINT NOT NULL DEFAULT 0
);
