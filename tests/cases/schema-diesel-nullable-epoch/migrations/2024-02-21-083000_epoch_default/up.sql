ALTER TABLE greenhouses ALTER COLUMN fence_epoch SET DEFAULT 0;
