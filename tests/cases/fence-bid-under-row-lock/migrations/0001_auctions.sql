CREATE TABLE auctions (
    id BIGINT PRIMARY KEY,
    highest BIGINT NOT NULL DEFAULT 0,
    bidder BIGINT,
    version BIGINT NOT NULL DEFAULT 0
);
