use mysql_async::prelude::*;
use mysql_async::{params, Pool};
use uuid::Uuid;

use crate::SlotError;

pub struct Slots {
    pool: Pool,
}

#[derive(Debug)]
pub struct Slot {
    name: String,
    holder: String,
}

impl Slots {
    pub fn new(pool: Pool) -> Self {
        Slots { pool }
    }

    pub async fn occupy(&self, name: &str) -> Result<Option<Slot>, SlotError> {
        let holder = Uuid::new_v4().to_string();
        let mut conn = self.pool.get_conn().await?;
        conn.exec_drop(
            "UPDATE scheduler_slots
                SET holder = :holder, lease_until = NOW(6) + INTERVAL 60 SECOND
              WHERE slot = :slot
                AND (holder IS NULL OR lease_until < NOW(6))",
            params! { "holder" => &holder, "slot" => name },
        )
        .await?;
        if conn.affected_rows() == 0 {
            return Ok(None);
        }
        Ok(Some(Slot {
            name: name.to_owned(),
            holder,
        }))
    }

    pub async fn prolong(&self, slot: &Slot) -> Result<(), SlotError> {
        let mut conn = self.pool.get_conn().await?;
        conn.exec_drop(
            "UPDATE scheduler_slots
                SET lease_until = NOW(6) + INTERVAL 60 SECOND
              WHERE slot = :slot AND holder = :holder AND lease_until >= NOW(6)",
            params! { "slot" => &slot.name, "holder" => &slot.holder },
        )
        .await?;
        match conn.affected_rows() {
            1 => Ok(()),
            _ => Err(SlotError::Lost(slot.name.clone())),
        }
    }

    pub async fn vacate(&self, slot: Slot) -> Result<(), SlotError> {
        let mut conn = self.pool.get_conn().await?;
        conn.exec_drop(
            "UPDATE scheduler_slots SET holder = NULL, lease_until = NULL
              WHERE slot = :slot",
            params! { "slot" => &slot.name },
        )
        .await?;
        Ok(())
    }
}
