ALTER TABLE tariffs ADD COLUMN valid_from DATE NULL;

UPDATE tariffs SET valid_from = '2024-01-01' WHERE valid_from IS NULL;
