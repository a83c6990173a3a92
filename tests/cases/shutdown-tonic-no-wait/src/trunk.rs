//! A SIP trunk may be registered by one gateway only.
use std::time::Duration;

use anyhow::{Context, Result, bail};
use reqwest::Client;
use serde_json::{Value, json};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

pub async fn serve(consul: String, trunk: String, cancel: CancellationToken) {
    let http = Client::new();
    while !cancel.is_cancelled() {
        match hold(&http, &consul, &trunk, &cancel).await {
            Ok(()) => {}
            Err(e) => tracing::warn!(%trunk, "{e:#}"),
        }
        tokio::select! {
            _ = cancel.cancelled() => {}
            _ = tokio::time::sleep(Duration::from_secs(5)) => {}
        }
    }
}

async fn hold(http: &Client, consul: &str, trunk: &str, cancel: &CancellationToken) -> Result<()> {
    let session = create_session(http, consul).await?;
    let url = format!("{consul}/v1/kv/trunks/{trunk}?acquire={session}");
    let acquired: Result<bool> = async {
        Ok(http
            .put(url)
            .send()
            .await?
            .error_for_status()?
            .json()
            .await?)
    }
    .await;
    let result = match acquired {
        Ok(true) => tokio::select! {
            r = register(trunk) => r,
            r = renew(http, consul, &session) => r,
            _ = cancel.cancelled() => Ok(()),
        },
        Ok(false) => Ok(()),
        Err(e) => Err(e),
    };
    // Ends the lock together with its session.
    http.put(format!("{consul}/v1/session/destroy/{session}"))
        .send()
        .await?
        .error_for_status()?;
    result
}

async fn create_session(http: &Client, consul: &str) -> Result<String> {
    let v: Value = http
        .put(format!("{consul}/v1/session/create"))
        .json(&json!({ "Name": "voice-gateway", "TTL": "15s", "Behavior": "release" }))
        .send()
        .await?
        .error_for_status()?
        .json()
        .await?;
    Ok(v["ID"].as_str().context("no session id")?.to_owned())
}

async fn renew(http: &Client, consul: &str, session: &str) -> Result<()> {
    let mut failed = 0;
    while failed < 2 {
        tokio::time::sleep(Duration::from_secs(5)).await;
        let r = http
            .put(format!("{consul}/v1/session/renew/{session}"))
            .timeout(Duration::from_secs(2))
            .send()
            .await;
        match r {
            Ok(r) if r.status().is_success() => failed = 0,
            Ok(r) if r.status() == reqwest::StatusCode::NOT_FOUND => break,
            other => {
                failed += 1;
                tracing::warn!("renew: {other:?}");
            }
        }
    }
    bail!("session {session} lost")
}

/// Runs the SIP stack until it is dropped.
async fn register(trunk: &str) -> Result<()> {
    let status = Command::new("sip-register")
        .arg(trunk)
        .kill_on_drop(true)
        .status()
        .await?;
    bail!("sip-register ended: {status}")
}
