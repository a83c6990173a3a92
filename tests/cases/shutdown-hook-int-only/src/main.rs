mod station;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use postgres::{Client, NoTls};
use signal_hook::consts::SIGINT;
use signal_hook::flag;

fn main() -> Result<()> {
    env_logger::init();
    let station = std::env::args()
        .nth(1)
        .context("usage: label-printerd STATION")?;
    let mut db = Client::connect(&std::env::var("DATABASE_URL")?, NoTls)?;

    let stop = Arc::new(AtomicBool::new(false));
    flag::register(SIGINT, stop.clone())?;

    while !stop.load(Ordering::Relaxed) {
        match station::take(&mut db, &station)? {
            None => sleep(Duration::from_secs(5)),
            Some(lease) => {
                let served = serve(&mut db, &lease, &stop);
                if !station::leave(&mut db, &lease)? {
                    log::warn!("{station}: another daemon has the station");
                }
                if let Err(e) = served {
                    log::error!("{station}: {e:#}");
                }
            }
        }
    }
    log::info!("bye");
    Ok(())
}

/// Prints what comes in, as long as the station is ours.
fn serve(db: &mut Client, lease: &station::Lease, stop: &AtomicBool) -> Result<()> {
    let mut renewed = Instant::now();
    let mut failures = 0;
    while !stop.load(Ordering::Relaxed) {
        if renewed.elapsed() >= station::RENEW_EVERY {
            renewed = Instant::now();
            match station::extend(db, lease) {
                Ok(true) => failures = 0,
                Ok(false) => anyhow::bail!("station lost"),
                Err(e) => {
                    failures += 1;
                    log::warn!("extend: {e}");
                    anyhow::ensure!(failures < 2, "station lost after two failures");
                }
            }
        }
        let spooled = std::process::Command::new("print-spool")
            .args(["--once", lease.station()])
            .status()?;
        if !spooled.success() {
            log::warn!("print-spool: {spooled}");
        }
        sleep(Duration::from_millis(500));
    }
    Ok(())
}
