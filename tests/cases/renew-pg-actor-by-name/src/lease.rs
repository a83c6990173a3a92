use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use uuid::Uuid;

const RENEW_EVERY: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Follower,
    Leader,
}

pub enum Command {
    Campaign(oneshot::Sender<anyhow::Result<bool>>),
    Resign(oneshot::Sender<anyhow::Result<()>>),
}

pub struct LeaseHandle {
    pub commands: mpsc::Sender<Command>,
    pub status: watch::Receiver<Status>,
    pub task: JoinHandle<()>,
}

struct Actor {
    pool: PgPool,
    name: &'static str,
    holder: Option<Uuid>,
    failures: u32,
    status: watch::Sender<Status>,
}

pub fn spawn(pool: PgPool, name: &'static str) -> LeaseHandle {
    let (commands, inbox) = mpsc::channel(8);
    let (tx, status) = watch::channel(Status::Follower);
    let actor = Actor {
        pool,
        name,
        holder: None,
        failures: 0,
        status: tx,
    };
    LeaseHandle {
        commands,
        status,
        task: tokio::spawn(actor.run(inbox)),
    }
}

impl Actor {
    async fn run(mut self, mut inbox: mpsc::Receiver<Command>) {
        let mut beat = tokio::time::interval(RENEW_EVERY);
        loop {
            tokio::select! {
                cmd = inbox.recv() => match cmd {
                    Some(Command::Campaign(reply)) => {
                        let _ = reply.send(self.campaign().await);
                    }
                    Some(Command::Resign(reply)) => {
                        let _ = reply.send(self.resign().await);
                    }
                    None => {
                        if let Err(e) = self.resign().await {
                            tracing::warn!("resign on exit: {e:#}");
                        }
                        return;
                    }
                },
                _ = beat.tick(), if self.holder.is_some() => self.heartbeat().await,
            }
        }
    }

    async fn campaign(&mut self) -> anyhow::Result<bool> {
        let me = Uuid::new_v4();
        let row: Option<(Uuid,)> = sqlx::query_as(
            "INSERT INTO worker_lease (name, holder, expires_at)
             VALUES ($1, $2, now() + interval '30 seconds')
             ON CONFLICT (name) DO UPDATE
                SET holder = excluded.holder, expires_at = excluded.expires_at
              WHERE worker_lease.expires_at < now()
             RETURNING holder",
        )
        .bind(self.name)
        .bind(me)
        .fetch_optional(&self.pool)
        .await?;
        if row.is_none() {
            return Ok(false);
        }
        self.holder = Some(me);
        self.failures = 0;
        self.status.send_replace(Status::Leader);
        Ok(true)
    }

    async fn heartbeat(&mut self) {
        let done = sqlx::query(
            "UPDATE worker_lease SET expires_at = now() + interval '30 seconds' WHERE name = $1",
        )
        .bind(self.name)
        .execute(&self.pool)
        .await;
        match done {
            Ok(r) if r.rows_affected() == 1 => self.failures = 0,
            Ok(_) => self.step_down(),
            Err(e) => {
                self.failures += 1;
                tracing::warn!(failures = self.failures, "heartbeat: {e}");
                if self.failures >= 2 {
                    self.step_down();
                }
            }
        }
    }

    fn step_down(&mut self) {
        self.holder = None;
        self.status.send_replace(Status::Follower);
    }

    async fn resign(&mut self) -> anyhow::Result<()> {
        let Some(me) = self.holder.take() else {
            return Ok(());
        };
        self.status.send_replace(Status::Follower);
        let r = sqlx::query("DELETE FROM worker_lease WHERE name = $1 AND holder = $2")
            .bind(self.name)
            .bind(me)
            .execute(&self.pool)
            .await?;
        anyhow::ensure!(
            r.rows_affected() == 1,
            "lease {} had another holder",
            self.name
        );
        Ok(())
    }
}
