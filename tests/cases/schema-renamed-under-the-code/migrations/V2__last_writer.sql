ALTER TABLE fuel_pumps ADD COLUMN last_writer TEXT;
