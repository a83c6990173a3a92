use diesel::dsl::{IntervalDsl, now};
use diesel::prelude::*;
use uuid::Uuid;

use crate::schema::recipient::dsl::*;

/// Locks up to `n` recipients for five minutes.
pub fn take(
    db: &mut PgConnection,
    campaign: i64,
    n: i64,
) -> QueryResult<(Uuid, Vec<(i64, String)>)> {
    let mine = Uuid::new_v4();
    let batch = db.transaction(|db| {
        let rows: Vec<(i64, String)> = recipient
            .filter(campaign_id.eq(campaign))
            .filter(sent.eq(false))
            .filter(locked_until.is_null().or(locked_until.lt(now)))
            .order(id)
            .limit(n)
            .select((id, email))
            .for_update()
            .skip_locked()
            .load(db)?;
        let ids: Vec<i64> = rows.iter().map(|r| r.0).collect();
        diesel::update(recipient.filter(id.eq_any(&ids)))
            .set((
                claim.eq(mine),
                locked_until.eq((now + 5.minutes()).nullable()),
            ))
            .execute(db)?;
        QueryResult::Ok(rows)
    })?;
    Ok((mine, batch))
}

/// False when the recipient has been claimed again meanwhile.
pub fn mark_sent(db: &mut PgConnection, recipient_id: i64, mine: Uuid) -> QueryResult<bool> {
    let n = diesel::update(recipient.find(recipient_id).filter(claim.eq(mine)))
        .set(sent.eq(true))
        .execute(db)?;
    Ok(n == 1)
}
