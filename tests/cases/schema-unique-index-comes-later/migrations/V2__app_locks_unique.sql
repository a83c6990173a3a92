DELETE FROM app_locks a USING app_locks b WHERE a.lock_name = b.lock_name AND a.id < b.id;
CREATE UNIQUE INDEX app_locks_name ON app_locks (lock_name);
