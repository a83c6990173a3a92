mod die;
mod lock;

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use die::die;

static STOP: AtomicBool = AtomicBool::new(false);

fn main() {
    let Some(dir) = std::env::args_os().nth(1) else {
        die("usage: dem-import DIRECTORY")
    };
    if let Err(e) = ctrlc::set_handler(|| STOP.store(true, Ordering::SeqCst)) {
        die(format!("signal handler: {e}"));
    }
    let client =
        redis::Client::open("redis://localhost/").unwrap_or_else(|e| die(format!("redis: {e}")));
    match lock::take(&client, "dem-import") {
        Ok(Some(held)) => {
            let n = import_all(Path::new(&dir), &held);
            match held.release() {
                Ok(true) => println!("{n} tiles imported"),
                Ok(false) => eprintln!("{n} tiles imported, but the lock ran out meanwhile"),
                Err(e) => eprintln!("{n} tiles imported, release: {e}"),
            }
        }
        Ok(None) => println!("another import is running"),
        Err(e) => die(format!("redis: {e}")),
    }
}

/// Imports tile after tile and renews the lock before each.
fn import_all(dir: &Path, held: &lock::Held) -> usize {
    let listing = match std::fs::read_dir(dir) {
        Ok(l) => l,
        Err(e) => die(format!("{}: {e}", dir.display())),
    };
    let mut n = 0;
    for tile in listing.flatten() {
        if STOP.load(Ordering::SeqCst) || !held.renew().unwrap_or(false) {
            break;
        }
        let done = Command::new("gdal_translate")
            .arg(tile.path())
            .arg("/vsis3/dem/")
            .status();
        if done.is_ok_and(|s| s.success()) {
            n += 1;
        }
    }
    n
}
