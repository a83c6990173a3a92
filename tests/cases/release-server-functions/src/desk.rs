use std::sync::Arc;

use uuid::Uuid;

use crate::mutex::Mutexes;
use crate::DeskError;

pub struct Desk {
    mutexes: Arc<dyn Mutexes>,
    carrier: reqwest::Client,
    carrier_url: String,
}

impl Desk {
    pub async fn book(&self, order: u64) -> Result<(), DeskError> {
        let key = format!("order:{order}:desk");
        let who = Uuid::new_v4().to_string();
        if !self.mutexes.take(&key, &who, 15_000).await? {
            return Err(DeskError::Busy(order));
        }
        let booked = self.call_carrier(order).await;
        if !self.mutexes.give(&key, &who).await? {
            tracing::warn!(order, "booking took longer than its mutex");
            return Err(DeskError::Slipped(order));
        }
        booked
    }

    async fn call_carrier(&self, order: u64) -> Result<(), DeskError> {
        self.carrier
            .post(format!("{}/pickups", self.carrier_url))
            .header("Idempotency-Key", order.to_string())
            .send()
            .await?
            .error_for_status()?;
        Ok(())
    }
}
