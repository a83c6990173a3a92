CREATE TABLE recipient (
    id           BIGSERIAL PRIMARY KEY,
    campaign_id  BIGINT NOT NULL,
    email        TEXT NOT NULL,
    sent         BOOLEAN NOT NULL DEFAULT FALSE,
    claim        UUID,
    locked_until TIMESTAMPTZ
);
CREATE INDEX recipient_todo ON recipient (campaign_id) WHERE NOT sent;
