CREATE TABLE pricing_lease (
    name VARCHAR(60) NOT NULL PRIMARY KEY,
    term BIGINT UNSIGNED NOT NULL DEFAULT 0,
    ends_at DATETIME(6) NOT NULL
);
CREATE TABLE prices (
    sku VARCHAR(40) NOT NULL PRIMARY KEY,
    cents BIGINT NOT NULL
);
INSERT INTO pricing_lease (name, ends_at) VALUES ('prices', '2000-01-01');
