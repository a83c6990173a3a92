use anyhow::Context;
use etcd_client::{Client, Compare, CompareOp, PutOptions, Txn, TxnOp};

/// A segment is ours as long as the etcd lease lives.
#[derive(Debug)]
pub struct Ownership {
    lease: i64,
    /// Raft index of the transaction that took the key: grows with each.
    pub fence: i64,
}

pub async fn own(client: &mut Client, segment: i64) -> anyhow::Result<Option<Ownership>> {
    let key = format!("/segments/{segment}/writer");
    let lease = client.lease_grant(20, None).await?.id();

    let txn = Txn::new()
        .when(vec![Compare::version(key.clone(), CompareOp::Equal, 0)])
        .and_then(vec![TxnOp::put(
            key,
            "held",
            Some(PutOptions::new().with_lease(lease)),
        )]);
    let reply = client.txn(txn).await?;
    if !reply.succeeded() {
        client.lease_revoke(lease).await?;
        return Ok(None);
    }
    let fence = reply.header().context("no header")?.revision();
    Ok(Some(Ownership { lease, fence }))
}

pub async fn disown(client: &mut Client, ownership: Ownership) -> anyhow::Result<()> {
    client.lease_revoke(ownership.lease).await?;
    Ok(())
}
