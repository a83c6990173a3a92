use etcd_client::{Client, Compare, CompareOp, Txn, TxnOp};
use uuid::Uuid;

#[derive(Debug, thiserror::Error)]
pub enum RollError {
    #[error(transparent)]
    Etcd(#[from] etcd_client::Error),
    #[error("{0} is being rolled out by somebody else")]
    Rolling(String),
    #[error("the rollout of {0} is not ours any more")]
    NotOurs(String),
}

/// One rollout of a service at a time.
pub struct Rollout {
    service: String,
    id: String,
}

impl Rollout {
    fn path(service: &str) -> String {
        format!("/deploy/locks/{service}")
    }

    pub async fn start(etcd: &mut Client, service: &str) -> Result<Rollout, RollError> {
        let id = Uuid::new_v4().to_string();
        let path = Self::path(service);
        let txn = Txn::new()
            .when(vec![Compare::version(path.as_str(), CompareOp::Equal, 0)])
            .and_then(vec![TxnOp::put(path.as_str(), id.as_str(), None)]);
        if !etcd.txn(txn).await?.succeeded() {
            return Err(RollError::Rolling(service.to_owned()));
        }
        Ok(Rollout {
            service: service.to_owned(),
            id,
        })
    }

    pub async fn finish(self, etcd: &mut Client) -> Result<(), RollError> {
        let path = Self::path(&self.service);
        let txn = Txn::new()
            .when(vec![Compare::value(path.as_str(), CompareOp::Equal, self.id.as_str())])
            .and_then(vec![TxnOp::delete(path.as_str(), None)]);
        if etcd.txn(txn).await?.succeeded() {
            Ok(())
        } else {
            Err(RollError::NotOurs(self.service))
        }
    }
}
