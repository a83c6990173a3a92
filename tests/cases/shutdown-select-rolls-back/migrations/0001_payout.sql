CREATE TABLE payout_lease (
    currency   CHAR(3) PRIMARY KEY,
    holder     UUID NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE payout (
    id         UUID PRIMARY KEY DEFAULT gen_random_uuid(),
    merchant   BIGINT NOT NULL,
    currency   CHAR(3) NOT NULL,
    cents      BIGINT NOT NULL,
    entered_at TIMESTAMPTZ NOT NULL DEFAULT now()
);
