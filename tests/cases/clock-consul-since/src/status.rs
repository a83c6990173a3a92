use anyhow::Result;
use base64::prelude::{BASE64_STANDARD, Engine};
use serde::Deserialize;
use time::OffsetDateTime;

use crate::leader::{KV, Leader, LeaderInfo};

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Pair {
    value: String,
    session: Option<String>,
}

/// One line for the status page.
pub async fn line(leader: &Leader) -> Result<String> {
    let pairs: Vec<Pair> = leader
        .http
        .get(format!("{}/v1/kv/{KV}", leader.base))
        .send()
        .await?
        .error_for_status()?
        .json()
        .await?;
    let Some(pair) = pairs.first().filter(|p| p.session.is_some()) else {
        return Ok("no leader".to_owned());
    };
    let info: LeaderInfo = serde_json::from_slice(&BASE64_STANDARD.decode(&pair.value)?)?;
    let age = OffsetDateTime::now_utc().unix_timestamp() - info.since_unix;
    Ok(format!("{} leads for {} min", info.node, age / 60))
}
