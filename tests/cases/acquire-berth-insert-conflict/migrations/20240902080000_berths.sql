CREATE TABLE berth_holds (
    berth TEXT PRIMARY KEY,
    ship UUID NOT NULL,
    ends_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX berth_holds_ends ON berth_holds (ends_at);
