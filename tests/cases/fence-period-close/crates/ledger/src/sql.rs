pub const START_CLOSING: &str = "
    UPDATE periods
       SET status = 'closing', fencing_token = $2
     WHERE id = $1 AND status <> 'closed' AND fencing_token < $2";

pub const STORE_BALANCE: &str = "
    UPDATE periods
       SET closing_balance = $3
     WHERE id = $1 AND fencing_token = $2";

pub const MARK_CLOSED: &str = "
    UPDATE periods
       SET status = 'closed', closed_at = now()
     WHERE id = $1 AND status = 'closing'";

pub const BALANCE: &str = "
    SELECT COALESCE(SUM(amount), 0)::BIGINT FROM entries WHERE period_id = $1";
