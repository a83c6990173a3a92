use std::time::Duration;

use crate::leader::Leader;

pub struct Cleaner {
    leader: Leader,
    keep: Duration,
}

impl Cleaner {
    pub fn new(leader: Leader, keep: Duration) -> Self {
        Cleaner { leader, keep }
    }

    /// Deletes old sessions; returns how many, or nothing if we do not lead.
    pub async fn tick(&mut self) -> anyhow::Result<Option<u64>> {
        if !self.leader.campaign().await? {
            return Ok(None);
        }
        match self.delete_old().await {
            Ok(n) => Ok(Some(n)),
            Err(error) => {
                tracing::warn!(%error, "clean-up failed, stepping down");
                self.leader.step_down();
                Err(error)
            }
        }
    }

    async fn delete_old(&mut self) -> anyhow::Result<u64> {
        let seconds = self.keep.as_secs() as f64;
        let Some(session) = self.leader.session() else {
            return Ok(0);
        };
        let tx = session.transaction().await?;
        let n = tx
            .execute(
                "DELETE FROM web_sessions WHERE last_used < now() - make_interval(secs => $1)",
                &[&seconds],
            )
            .await?;
        tx.commit().await?;
        Ok(n)
    }
}
