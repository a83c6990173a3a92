CREATE TABLE stock (
    sku           TEXT   NOT NULL,
    warehouse     BIGINT NOT NULL,
    pieces        BIGINT NOT NULL,
    fencing_token BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (sku, warehouse)
);
