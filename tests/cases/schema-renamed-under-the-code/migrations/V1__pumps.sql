CREATE TABLE fuel_pumps (
    id BIGINT PRIMARY KEY,
    litres_per_minute INT NOT NULL,
    fence_token BIGINT NOT NULL DEFAULT 0
);
