CREATE TABLE import_guard (
    feed       TEXT PRIMARY KEY,
    guarded_by UUID,
    guarded_to TIMESTAMPTZ NOT NULL DEFAULT '2000-01-01 00:00:00+00'
);
