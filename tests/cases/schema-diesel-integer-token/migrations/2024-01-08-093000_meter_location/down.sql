ALTER TABLE meters DROP COLUMN location;
