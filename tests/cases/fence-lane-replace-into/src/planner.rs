use futures::stream::{Stream, StreamExt};

use crate::lanes::{Assignment, Lanes};

/// The yard's lease, with the token that belongs to it.
pub struct YardLease {
    token: u64,
}

impl YardLease {
    pub fn from_token(token: u64) -> Self {
        YardLease { token }
    }

    pub fn token(&self) -> u64 {
        self.token
    }
}

pub async fn plan<S>(lanes: &Lanes, lease: &YardLease, assignments: S) -> anyhow::Result<usize>
where
    S: Stream<Item = Assignment>,
{
    let mut assignments = std::pin::pin!(assignments);
    let mut planned = 0;
    while let Some(assignment) = assignments.next().await {
        lanes.assign(&assignment, lease.token()).await?;
        lanes.note(&assignment).await?;
        planned += 1;
    }
    tracing::info!(planned, "yard planned");
    Ok(planned)
}
