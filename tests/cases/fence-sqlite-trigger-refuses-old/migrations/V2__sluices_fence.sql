CREATE TRIGGER sluices_fence
BEFORE UPDATE ON sluices
FOR EACH ROW
WHEN NEW.fence <= OLD.fence
BEGIN
    SELECT RAISE(ABORT, 'stale fence');
END;
