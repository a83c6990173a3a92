CREATE TABLE ledgers (
    id BIGINT PRIMARY KEY,
    balance BIGINT NOT NULL DEFAULT 0
);
INSERT INTO ledgers (id) SELECT generate_series(1, 64);
