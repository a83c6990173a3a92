ALTER TABLE greenhouses
    ADD COLUMN fence_epoch BIGINT;
