ALTER TABLE greenhouses DROP COLUMN fence_epoch;
