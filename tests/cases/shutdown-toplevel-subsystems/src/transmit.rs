use miette::{IntoDiagnostic, Result, bail};
use tokio::process::Command;

pub async fn forever() -> Result<()> {
    let status = Command::new("beacon-tx")
        .kill_on_drop(true)
        .status()
        .await
        .into_diagnostic()?;
    bail!("beacon-tx ended: {status}")
}
