use uuid::Uuid;

use crate::{Kv, MarketError};

const STAY_MS: u64 = 45_000;

/// Proof that a trader has the booth for now.
pub struct Ticket(String);

/// Only one trader may stand in a booth at a time.
pub struct Booths {
    kv: Kv,
}

impl Booths {
    pub fn new(kv: Kv) -> Self {
        Self { kv }
    }

    fn spot(row: u8, nr: u16) -> String {
        format!("booth:{row}:{nr}")
    }

    pub async fn occupy(&self, row: u8, nr: u16) -> Result<Ticket, MarketError> {
        let ticket = Uuid::new_v4().to_string();
        if !self.kv.put_if_free(&Self::spot(row, nr), &ticket, STAY_MS).await? {
            return Err(MarketError::Occupied);
        }
        Ok(Ticket(ticket))
    }

    pub async fn vacate(&self, row: u8, nr: u16, ticket: Ticket) -> Result<(), MarketError> {
        let spot = Self::spot(row, nr);
        match self.kv.peek(&spot).await? {
            Some(standing) if standing == ticket.0 => self.kv.wipe(&spot).await,
            _ => Err(MarketError::Expired),
        }
    }
}
