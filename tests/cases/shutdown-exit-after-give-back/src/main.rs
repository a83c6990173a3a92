mod lease;

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use serde::Deserialize;
use sqlx::PgPool;
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};

#[derive(Parser)]
struct Cli {
    #[arg(long, env = "DATABASE_URL")]
    database_url: String,
    #[arg(long)]
    environment: String,
    manifest: PathBuf,
}

#[derive(Deserialize)]
struct Manifest {
    steps: Vec<String>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    if cli.environment.is_empty() {
        eprintln!("--environment must not be empty");
        std::process::exit(64);
    }
    let pool = PgPool::connect(&cli.database_url).await?;
    let mut term = signal(SignalKind::terminate())?;
    let mut int = signal(SignalKind::interrupt())?;

    let Some(lease) = lease::take(&pool, &cli.environment).await? else {
        anyhow::bail!("another deployment to {} is running", cli.environment);
    };
    let outcome = tokio::select! {
        r = deploy(&cli) => r,
        e = lease::keep(&pool, &lease, Duration::from_secs(20)) => Err(e),
        _ = term.recv() => Err(anyhow::anyhow!("terminated")),
        _ = int.recv() => Err(anyhow::anyhow!("interrupted")),
    };
    if !lease::give_back(&pool, &lease).await? {
        eprintln!(
            "the lease of {} was held by somebody else at the end",
            cli.environment
        );
    }
    if let Err(e) = outcome {
        eprintln!("{}: {e:#}", cli.manifest.display());
        std::process::exit(2);
    }
    Ok(())
}

async fn deploy(cli: &Cli) -> anyhow::Result<()> {
    let text = tokio::fs::read_to_string(&cli.manifest).await?;
    let manifest: Manifest = toml::from_str(&text)?;
    for step in &manifest.steps {
        let status = Command::new("sh")
            .args(["-c", step])
            .kill_on_drop(true)
            .status()
            .await?;
        anyhow::ensure!(status.success(), "{step}: {status}");
    }
    Ok(())
}
