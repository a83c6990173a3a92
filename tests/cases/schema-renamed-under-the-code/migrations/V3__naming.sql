ALTER TABLE fuel_pumps RENAME COLUMN litres_per_minute TO rate;
ALTER TABLE fuel_pumps RENAME COLUMN fence_token TO lease_epoch;
