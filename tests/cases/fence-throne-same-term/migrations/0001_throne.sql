CREATE TABLE throne (
    realm TEXT PRIMARY KEY,
    monarch UUID NOT NULL,
    term BIGINT NOT NULL DEFAULT 1,
    ends_at TIMESTAMPTZ NOT NULL
);
CREATE TABLE decrees (
    nr BIGINT PRIMARY KEY,
    realm TEXT NOT NULL,
    text TEXT NOT NULL,
    term BIGINT NOT NULL
);
