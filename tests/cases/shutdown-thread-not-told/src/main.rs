mod bus_lock;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Result, bail};
use bus_lock::BusLock;
use signal_hook::consts::{SIGINT, SIGTERM};

fn main() -> Result<()> {
    let term = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGTERM, Arc::clone(&term))?;
    signal_hook::flag::register(SIGINT, Arc::clone(&term))?;

    let redis = redis::Client::open(std::env::var("REDIS_URL")?)?;
    let Some(lock) = BusLock::acquire(redis, "mbus-0")? else {
        bail!("bus is read by another gateway")
    };
    let (_renewal, lost) = lock.start_renewal();

    let mut address = 1u8;
    while !term.load(Ordering::Relaxed) {
        if lost.try_recv().is_ok() {
            bail!("bus lock lost");
        }
        match std::process::Command::new("mbus-read")
            .arg(address.to_string())
            .status()
        {
            Ok(s) if s.success() => {}
            Ok(s) => log::warn!("meter {address}: {s}"),
            Err(e) => log::warn!("meter {address}: {e}"),
        }
        address = address % 250 + 1;
        std::thread::sleep(Duration::from_millis(300));
    }
    log::info!("terminated at meter {address}");
    Ok(())
}
