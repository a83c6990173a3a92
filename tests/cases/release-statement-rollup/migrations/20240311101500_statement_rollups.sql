CREATE TABLE statement_rollups (
    account_id  BIGINT NOT NULL,
    month       DATE   NOT NULL,
    total_cents BIGINT NOT NULL,
    entries     BIGINT NOT NULL,
    PRIMARY KEY (account_id, month)
);
