//! Several OCR processes on one machine share a SQLite queue.
mod beat;
pub mod queue;

use std::process::{Child, Command, Stdio};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use anyhow::{Result, bail};

pub fn work_one(db_path: &str) -> Result<bool> {
    let mut queue = queue::Queue::open(db_path)?;
    let Some(job) = queue.claim()? else {
        return Ok(false);
    };
    let beat = beat::start(db_path.to_owned(), job.clone());

    let mut child = Command::new("tesseract")
        .args([&job.path, "-"])
        .stdout(Stdio::piped())
        .spawn()?;
    let outcome = supervise(&mut child, &beat);
    let text = match outcome {
        Ok(()) => child
            .wait_with_output()
            .map(|o| String::from_utf8_lossy(&o.stdout).into_owned()),
        Err(e) => {
            child.kill()?;
            child.wait()?;
            beat.stop();
            return Err(e);
        }
    };
    beat.stop();
    queue.finish(&job, &text?)?;
    Ok(true)
}

fn supervise(child: &mut Child, beat: &beat::Beat) -> Result<()> {
    loop {
        if child.try_wait()?.is_some() {
            return Ok(());
        }
        match beat.lost.recv_timeout(Duration::from_millis(200)) {
            Err(RecvTimeoutError::Timeout) => {}
            _ => bail!("claim lost"),
        }
    }
}
