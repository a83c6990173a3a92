CREATE TABLE users (
    id BIGSERIAL PRIMARY KEY,
    mail TEXT NOT NULL UNIQUE,
    password_hash TEXT NOT NULL,
    token_generation BIGINT NOT NULL DEFAULT 0
);
