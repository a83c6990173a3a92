use deadpool_redis::redis::{self, AsyncCommands};
use deadpool_redis::Pool;
use uuid::Uuid;

const TICKET_TTL_SECS: u64 = 120;

/// Entrance tickets for websocket connections; each opens the door once.
pub struct Tickets {
    pool: Pool,
}

impl Tickets {
    pub async fn issue(&self, user: u64) -> anyhow::Result<Uuid> {
        let mut conn = self.pool.get().await?;
        loop {
            let ticket = Uuid::new_v4();
            let fresh: Option<String> = redis::cmd("SET")
                .arg(format!("ticket:{ticket}"))
                .arg(user)
                .arg("NX")
                .arg("EX")
                .arg(TICKET_TTL_SECS)
                .query_async(&mut conn)
                .await?;
            if fresh.is_some() {
                return Ok(ticket);
            }
        }
    }

    /// Who may enter; whoever deletes the ticket first has used it.
    pub async fn redeem(&self, ticket: Uuid, claimed: u64) -> anyhow::Result<bool> {
        let key = format!("ticket:{ticket}");
        let mut conn = self.pool.get().await?;
        let user: Option<u64> = conn.get(&key).await?;
        if user != Some(claimed) {
            return Ok(false);
        }
        let removed: u64 = conn.del(&key).await?;
        Ok(removed == 1)
    }
}
