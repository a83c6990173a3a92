ALTER TABLE devices ADD COLUMN access_token_hash BLOB;
