UPDATE lamps SET fence = 0 WHERE fence IS NULL;
