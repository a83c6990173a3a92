CREATE TABLE lock_gates (
    id BIGINT PRIMARY KEY,
    position INT NOT NULL DEFAULT 0,
    fence BIGINT NOT NULL DEFAULT 0
);

CREATE FUNCTION refuse_stale_fence() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.fence <= OLD.fence THEN
        RAISE EXCEPTION 'stale fence %', NEW.fence USING ERRCODE = 'FE001';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER gates_fence BEFORE UPDATE ON lock_gates
    FOR EACH ROW EXECUTE FUNCTION refuse_stale_fence();
