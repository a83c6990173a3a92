pub const BEGIN: &str = "
    UPDATE harvests h
       SET state = 'cutting', attempt = h.attempt + 1, touched_at = now()
     WHERE h.id = (SELECT id FROM harvests WHERE state = 'ready' ORDER BY id FOR UPDATE SKIP LOCKED LIMIT 1)
 RETURNING h.id, h.field, h.attempt";

pub const TOUCH: &str = "
    UPDATE harvests SET touched_at = now() WHERE id = $1 AND attempt = $2 AND state = 'cutting'";

pub const STORE: &str = "
    UPDATE harvests SET state = 'stored', result = $3 WHERE id = $1 AND attempt = $2 AND state = 'cutting'";

pub const AGAIN: &str = "
    UPDATE harvests SET state = 'ready' WHERE state = 'cutting' AND touched_at < now() - interval '3 minutes'";
