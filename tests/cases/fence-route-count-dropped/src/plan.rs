use std::future::Future;

use crate::routes::Routes;

#[derive(Clone, Debug)]
pub struct Step {
    pub host: String,
    pub backend: String,
    pub weight: i32,
}

#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error(transparent)]
    Sql(#[from] sqlx::Error),
    #[error("the switch lease is taken")]
    Busy,
    #[error("the switch lease was lost")]
    Lost,
}

/// The lease service: a token that grows with every lease.
pub trait SwitchLease {
    fn acquire(&self) -> impl Future<Output = Option<i64>> + Send;
    fn release(&self, token: i64) -> impl Future<Output = bool> + Send;
}

pub async fn carry_out<L: SwitchLease>(
    lease: &L,
    routes: &Routes,
    steps: &[Step],
) -> Result<usize, PlanError> {
    let token = lease.acquire().await.ok_or(PlanError::Busy)?;
    let done = switch_all(routes, steps, token).await;
    if !lease.release(token).await {
        return Err(PlanError::Lost);
    }
    done
}

async fn switch_all(routes: &Routes, steps: &[Step], token: i64) -> Result<usize, PlanError> {
    let mut done = 0;
    for step in steps {
        routes.switch(step, token).await?;
        done += 1;
    }
    Ok(done)
}
