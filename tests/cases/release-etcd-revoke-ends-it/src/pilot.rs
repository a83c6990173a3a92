use etcd_client::{Client, Compare, CompareOp, Error, PutOptions, Txn, TxnOp};

const FLIGHT_SECONDS: i64 = 15;

/// The one process that steers a fleet.
pub struct Cockpit {
    etcd: Client,
}

pub struct Pilot {
    lease: i64,
    pub fleet: String,
}

impl Cockpit {
    pub fn new(etcd: Client) -> Self {
        Self { etcd }
    }

    pub async fn board(&mut self, fleet: &str) -> Result<Option<Pilot>, Error> {
        let lease = self.etcd.lease_grant(FLIGHT_SECONDS, None).await?.id();
        let seat = format!("/fleets/{fleet}/pilot");
        let txn = Txn::new()
            .when([Compare::create_revision(seat.as_str(), CompareOp::Equal, 0)])
            .and_then([TxnOp::put(
                seat.as_str(),
                "",
                Some(PutOptions::new().with_lease(lease)),
            )]);
        if self.etcd.txn(txn).await?.succeeded() {
            return Ok(Some(Pilot {
                lease,
                fleet: fleet.to_string(),
            }));
        }
        self.etcd.lease_revoke(lease).await?;
        Ok(None)
    }

    /// The seat goes with the lease, whoever sits there later has another one.
    pub async fn leave(&mut self, pilot: Pilot) -> Result<(), Error> {
        self.etcd.lease_revoke(pilot.lease).await?;
        Ok(())
    }
}
