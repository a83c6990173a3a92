use mysql_async::prelude::*;
use mysql_async::{params, Params, Pool};
use uuid::Uuid;

use crate::{sql, SlotError};

pub struct Slots {
    pool: Pool,
}

#[derive(Debug)]
pub struct Slot {
    name: String,
    holder: String,
}

impl Slot {
    fn params(&self) -> Params {
        params! { "slot" => &self.name, "holder" => &self.holder }
    }
}

impl Slots {
    pub fn new(pool: Pool) -> Self {
        Slots { pool }
    }

    /// Runs a statement that must hit the one row we hold.
    async fn change(&self, statement: &str, slot: &Slot) -> Result<bool, SlotError> {
        let mut conn = self.pool.get_conn().await?;
        conn.exec_drop(statement, slot.params()).await?;
        Ok(conn.affected_rows() == 1)
    }

    pub async fn occupy(&self, name: &str) -> Result<Option<Slot>, SlotError> {
        let slot = Slot {
            name: name.to_owned(),
            holder: Uuid::new_v4().to_string(),
        };
        Ok(self.change(sql::OCCUPY, &slot).await?.then_some(slot))
    }

    pub async fn prolong(&self, slot: &Slot) -> Result<(), SlotError> {
        if self.change(sql::PROLONG, slot).await? {
            Ok(())
        } else {
            Err(SlotError::Lost(slot.name.clone()))
        }
    }

    pub async fn vacate(&self, slot: Slot) -> Result<(), SlotError> {
        if self.change(sql::VACATE, &slot).await? {
            Ok(())
        } else {
            Err(SlotError::Lost(slot.name))
        }
    }
}
