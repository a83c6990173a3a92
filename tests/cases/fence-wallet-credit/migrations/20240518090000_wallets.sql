CREATE TABLE wallets (
    id            BIGINT  PRIMARY KEY,
    balance_cents BIGINT  NOT NULL DEFAULT 0,
    frozen        BOOLEAN NOT NULL DEFAULT FALSE,
    fencing_token BIGINT  NOT NULL DEFAULT 0
);
