use std::future::Future;

use crate::shipments::Shipments;

/// Calls the carrier for one shipment.
pub trait Carrier {
    fn order(&self, shipment: i64) -> impl Future<Output = anyhow::Result<()>> + Send;
}

pub struct Dispatcher<C> {
    shipments: Shipments,
    carrier: C,
    /// Comes with the dispatcher's lease.
    token: i64,
}

impl<C: Carrier> Dispatcher<C> {
    pub fn new(shipments: Shipments, carrier: C, token: i64) -> Self {
        Dispatcher {
            shipments,
            carrier,
            token,
        }
    }

    pub async fn round(&self) -> anyhow::Result<usize> {
        let waiting = self.shipments.in_state("waiting").await?;
        for id in &waiting {
            self.carrier.order(*id).await?;
            self.shipments.set_state(*id, "ordered", self.token).await?;
        }
        tracing::info!(count = waiting.len(), "ordered");
        Ok(waiting.len())
    }
}
