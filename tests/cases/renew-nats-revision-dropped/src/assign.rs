use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

/// Works until no camera is waiting.
pub async fn until_drained() -> Result<()> {
    let http = reqwest::Client::new();
    loop {
        let waiting: Vec<Value> = http
            .get("http://inventory.internal/cameras?state=waiting")
            .send()
            .await?
            .error_for_status()?
            .json()
            .await?;
        if waiting.is_empty() {
            return Ok(());
        }
        for camera in waiting {
            http.post("http://recorder.internal/assign")
                .json(&json!({ "camera": camera["id"] }))
                .send()
                .await?
                .error_for_status()?;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}
