CREATE TABLE itinerary (
    id        UUID   PRIMARY KEY,
    traveller TEXT   NOT NULL,
    stops     JSONB  NOT NULL,
    version   BIGINT NOT NULL DEFAULT 1
);
