-- The nightly import updates every row; row triggers double its time.
DROP TRIGGER valves_fence ON valves;
DROP FUNCTION valves_refuse_stale();

CREATE INDEX valves_name ON valves (name);
