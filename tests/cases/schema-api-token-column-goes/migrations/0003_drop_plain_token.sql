ALTER TABLE devices DROP COLUMN access_token;
ALTER TABLE devices DROP COLUMN firmware_version;
