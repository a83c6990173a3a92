ALTER TABLE tiles RENAME COLUMN fencing_token TO fence;
