use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::{Connection, params};

use crate::queue::Job;

pub struct Beat {
    /// Hangs up, or gets a word, when the claim is lost.
    pub lost: Receiver<()>,
    stop: SyncSender<()>,
    thread: JoinHandle<()>,
}

pub fn start(db_path: String, job: Job) -> Beat {
    let (tell, lost) = channel();
    let (stop, stopped) = sync_channel(1);
    let thread = std::thread::spawn(move || {
        let mut bad = 0;
        while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(Duration::from_secs(20)) {
            match push_on(&db_path, &job) {
                Ok(1) => bad = 0,
                Ok(_) => return drop(tell.send(())),
                Err(e) => {
                    bad += 1;
                    log::warn!("job {}: {e}", job.id);
                    if bad == 2 {
                        return drop(tell.send(()));
                    }
                }
            }
        }
    });
    Beat { lost, stop, thread }
}

fn push_on(db_path: &str, job: &Job) -> rusqlite::Result<usize> {
    let db = Connection::open(db_path)?;
    db.execute(
        "UPDATE scan_job SET locked_until = unixepoch() + 60 WHERE id = ?1 AND state = 'running'",
        params![job.id],
    )
}

impl Beat {
    pub fn stop(self) {
        let _ = self.stop.send(());
        if self.thread.join().is_err() {
            log::error!("heartbeat panicked");
        }
    }
}
