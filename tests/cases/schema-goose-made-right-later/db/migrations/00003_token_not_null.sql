-- +goose Up
UPDATE hosts SET fencing_token = 0 WHERE fencing_token IS NULL;
ALTER TABLE hosts ALTER COLUMN fencing_token SET DEFAULT 0;
ALTER TABLE hosts ALTER COLUMN fencing_token SET NOT NULL;

-- +goose Down
ALTER TABLE hosts ALTER COLUMN fencing_token DROP NOT NULL;
ALTER TABLE hosts ALTER COLUMN fencing_token DROP DEFAULT;
