-- stale bookkeepers are refused from now on
ALTER TABLE ledgers ADD COLUMN fence BIGINT NOT NULL;
