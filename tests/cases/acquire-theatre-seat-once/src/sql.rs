pub const FREE_SEATS: &str = "SELECT id, label FROM seats WHERE show_id = :show AND sold_to IS NULL ORDER BY id";

pub const SELL: &str = r"
    UPDATE seats
       SET sold_to = :buyer, sold_at = NOW()
     WHERE id = :seat
       AND sold_to IS NULL
";
