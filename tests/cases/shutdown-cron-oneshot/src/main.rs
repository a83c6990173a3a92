use std::process::{Child, Command};
use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError};
use std::thread;
use std::time::Duration;

use anyhow::{Result, bail};
use mysql::prelude::Queryable;
use mysql::{Pool, params};

const JOB: &str = "nightly-rollup";

fn main() -> Result<()> {
    env_logger::init();
    let pool = Pool::new(std::env::var("DATABASE_URL")?.as_str())?;
    let run_id = uuid::Uuid::new_v4().to_string();
    if !lock(&pool, &run_id)? {
        log::info!("another host rolls up");
        return Ok(());
    }

    let (stop, stopped) = mpsc::channel::<()>();
    let (lost_tx, lost) = mpsc::channel::<()>();
    let renewal = {
        let (pool, run_id) = (pool.clone(), run_id.clone());
        thread::spawn(move || {
            let _lost = lost_tx;
            let mut failed = 0;
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(Duration::from_secs(30))
            {
                match extend(&pool, &run_id) {
                    Ok(true) => failed = 0,
                    Ok(false) => return,
                    Err(e) => {
                        log::warn!("extend: {e}");
                        failed += 1;
                        if failed == 2 {
                            return;
                        }
                    }
                }
            }
        })
    };

    let rolled = Command::new("rollup")
        .arg("--yesterday")
        .spawn()
        .map_err(Into::into)
        .and_then(|c| wait(c, &lost));

    drop(stop);
    let _ = renewal.join();
    if !unlock(&pool, &run_id)? {
        log::warn!("the lock belonged to another run");
    }
    rolled
}

/// Waits for the child, kills it when the lock is lost.
fn wait(mut child: Child, lost: &mpsc::Receiver<()>) -> Result<()> {
    loop {
        if let Some(status) = child.try_wait()? {
            anyhow::ensure!(status.success(), "rollup: {status}");
            return Ok(());
        }
        if lost.try_recv() == Err(TryRecvError::Disconnected) {
            child.kill()?;
            child.wait()?;
            bail!("lock lost");
        }
        thread::sleep(Duration::from_millis(500));
    }
}

fn lock(pool: &Pool, run_id: &str) -> mysql::Result<bool> {
    let mut db = pool.get_conn()?;
    db.exec_drop(
        "UPDATE job_lock SET run_id = :run, until = NOW(3) + INTERVAL 90 SECOND
          WHERE job = :job AND until < NOW(3)",
        params! { "job" => JOB, "run" => run_id },
    )?;
    if db.affected_rows() == 1 {
        return Ok(true);
    }
    db.exec_drop(
        "INSERT IGNORE INTO job_lock (job, run_id, until) VALUES (:job, :run, NOW(3) + INTERVAL 90 SECOND)",
        params! { "job" => JOB, "run" => run_id },
    )?;
    Ok(db.affected_rows() == 1)
}

fn extend(pool: &Pool, run_id: &str) -> mysql::Result<bool> {
    let mut db = pool.get_conn()?;
    db.exec_drop(
        "UPDATE job_lock SET until = NOW(3) + INTERVAL 90 SECOND WHERE job = ? AND run_id = ?",
        (JOB, run_id),
    )?;
    Ok(db.affected_rows() == 1)
}

fn unlock(pool: &Pool, run_id: &str) -> mysql::Result<bool> {
    let mut db = pool.get_conn()?;
    db.exec_drop(
        "DELETE FROM job_lock WHERE job = ? AND run_id = ?",
        (JOB, run_id),
    )?;
    Ok(db.affected_rows() == 1)
}
