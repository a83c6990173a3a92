CREATE TABLE writer_leases (
    name        TEXT        PRIMARY KEY,
    holder      UUID        NOT NULL,
    lease_epoch BIGINT      NOT NULL,
    expires_at  TIMESTAMPTZ NOT NULL
);

CREATE TABLE projections (
    stream   TEXT   PRIMARY KEY,
    position BIGINT NOT NULL,
    body     JSONB  NOT NULL
);
