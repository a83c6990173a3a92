use etcd_client::{Client, PutOptions};

/// Presence of an agent; gone a minute after the agent is.
pub async fn announce(client: &mut Client, agent: &str, version: &str) -> anyhow::Result<i64> {
    let lease = client.lease_grant(60, None).await?.id();
    client
        .put(
            format!("/rollout/agents/{agent}"),
            version,
            Some(PutOptions::new().with_lease(lease)),
        )
        .await?;
    Ok(lease)
}
