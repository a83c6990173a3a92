CREATE TABLE payments (
    id          BIGINT PRIMARY KEY,
    merchant    BIGINT NOT NULL,
    paid_on     DATE   NOT NULL,
    amount      BIGINT NOT NULL,
    totalled    BOOLEAN NOT NULL DEFAULT FALSE
);

CREATE TABLE daily_totals (
    merchant BIGINT NOT NULL,
    day      DATE   NOT NULL,
    amount   BIGINT NOT NULL,
    PRIMARY KEY (merchant, day)
);
