CREATE TABLE recipes (
    id BIGINT PRIMARY KEY,
    title TEXT NOT NULL,
    steps TEXT NOT NULL,
    servings INT NOT NULL,
    version BIGINT NOT NULL DEFAULT 1
);
