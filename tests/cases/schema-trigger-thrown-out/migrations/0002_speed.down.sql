DROP INDEX gates_position;
CREATE TRIGGER gates_fence BEFORE UPDATE ON lock_gates
    FOR EACH ROW EXECUTE FUNCTION refuse_stale_fence();
