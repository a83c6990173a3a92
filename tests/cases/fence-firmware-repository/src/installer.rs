use crate::devices::{Devices, Written};
use crate::turns::Turns;

pub struct Installer<D> {
    devices: D,
    turns: Turns,
}

impl<D: Devices> Installer<D> {
    pub fn new(devices: D, turns: Turns) -> Self {
        Installer { devices, turns }
    }

    pub async fn install(&self, device: i64, firmware: &str) -> anyhow::Result<bool> {
        let Some(turn) = self.turns.take(device).await? else {
            return Ok(false);
        };
        let written = self
            .devices
            .set_firmware(device, firmware, 'b', turn.token)
            .await;
        if !self.turns.end(turn).await? {
            tracing::info!(device, "turn had ended by itself");
        }
        match written? {
            Written::Yes => Ok(true),
            Written::Stale => anyhow::bail!("device {device} has been taken over"),
        }
    }
}
