use std::time::Duration;

use anyhow::Result;
use etcd_client::{Client, Compare, CompareOp, PutOptions, Txn, TxnOp};
use tokio::time::Instant;

const TTL: i64 = 90;

pub struct Turn {
    lease: i64,
    /// The revision at which the key was created: the fencing token.
    pub revision: i64,
    pub deadline: Instant,
}

impl Turn {
    pub async fn take(etcd: &mut Client, node: &str, source: &str) -> Result<Option<Turn>> {
        let key = format!("/archive/{source}");
        let deadline = Instant::now() + Duration::from_secs(TTL as u64 - 5);
        let lease = etcd.lease_grant(TTL, None).await?.id();
        let txn = Txn::new()
            .when([Compare::create_revision(key.as_str(), CompareOp::Equal, 0)])
            .and_then([TxnOp::put(
                key.as_str(),
                node,
                Some(PutOptions::new().with_lease(lease)),
            )]);
        let reply = etcd.txn(txn).await?;
        if let (true, Some(header)) = (reply.succeeded(), reply.header()) {
            return Ok(Some(Turn {
                lease,
                revision: header.revision(),
                deadline,
            }));
        }
        etcd.lease_revoke(lease).await?;
        Ok(None)
    }

    pub async fn give_back(self, etcd: &mut Client) -> Result<()> {
        etcd.lease_revoke(self.lease).await?;
        Ok(())
    }
}
