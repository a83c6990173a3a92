-- superseded by the fencing token long ago
ALTER TABLE tiles DROP COLUMN row_version;
