use std::time::{Duration, Instant};

use etcd_client::{Client, Compare, CompareOp, PutOptions, Txn, TxnOp};

const SECONDS: i64 = 20;

/// A watch over the beacons. Its revision is greater than that of every watch before it.
pub struct Watch {
    lease: i64,
    revision: i64,
    until: Instant,
}

impl Watch {
    pub async fn begin(etcd: &mut Client) -> anyhow::Result<Option<Watch>> {
        let asked = Instant::now();
        let lease = etcd.lease_grant(SECONDS, None).await?.id();
        let key = "beacons/watch";
        let txn = Txn::new()
            .when([Compare::create_revision(key, CompareOp::Equal, 0)])
            .and_then([TxnOp::put(key, "", Some(PutOptions::new().with_lease(lease)))]);
        let answer = etcd.txn(txn).await?;
        if !answer.succeeded() {
            etcd.lease_revoke(lease).await?;
            return Ok(None);
        }
        let revision = answer.header().map(|h| h.revision()).unwrap_or_default();
        anyhow::ensure!(revision > 0, "etcd named no revision");
        Ok(Some(Watch {
            lease,
            revision,
            until: asked + Duration::from_secs(SECONDS as u64 - 2),
        }))
    }

    pub fn is_held(&self) -> bool {
        Instant::now() < self.until
    }

    pub fn revision(&self) -> i64 {
        self.revision
    }

    pub async fn end(self, etcd: &mut Client) -> anyhow::Result<()> {
        etcd.lease_revoke(self.lease).await?;
        Ok(())
    }
}
