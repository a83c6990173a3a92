CREATE FUNCTION valves_refuse_stale() RETURNS trigger AS $$
BEGIN
    IF NEW.fencing_token <= OLD.fencing_token THEN
        RAISE EXCEPTION 'stale fencing token % for valve %', NEW.fencing_token, OLD.id
            USING ERRCODE = 'LL001';
    END IF;
    RETURN NEW;
END;
$$ LANGUAGE plpgsql;

CREATE TRIGGER valves_fence
    BEFORE UPDATE ON valves
    FOR EACH ROW EXECUTE FUNCTION valves_refuse_stale();
