-- raised by every change, so that clients know when to load again
ALTER TABLE flags ADD COLUMN generation BIGINT NOT NULL DEFAULT 0;
