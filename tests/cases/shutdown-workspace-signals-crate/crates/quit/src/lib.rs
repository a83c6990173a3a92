//! Waits until somebody wants the process to end.
use std::io;

use tokio::signal::unix::{SignalKind, signal};

/// The name of the signal that came first.
pub async fn asked() -> io::Result<&'static str> {
    let mut int = signal(SignalKind::interrupt())?;
    let mut quit = signal(SignalKind::quit())?;
    let mut term = signal(SignalKind::terminate())?;
    Ok(tokio::select! {
        _ = int.recv() => "SIGINT",
        _ = quit.recv() => "SIGQUIT",
        _ = term.recv() => "SIGTERM",
    })
}
