ALTER TABLE tiles RENAME COLUMN fence TO fencing_token;
