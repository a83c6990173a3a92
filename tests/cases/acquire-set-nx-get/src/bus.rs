use anyhow::Context;
use rustis::client::Client;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::line::{Attempt, Line, LineId};

pub struct Bus {
    redis: Client,
    gateway: String,
}

impl Bus {
    pub async fn read(&self, line: LineId, meter: u8) -> anyhow::Result<Option<u32>> {
        let line = match Line::seize(&self.redis, line).await? {
            Attempt::Ours(line) => line,
            Attempt::Busy { reader } => {
                tracing::debug!(?line, reader, "line is busy");
                return Ok(None);
            }
        };
        let value = self.ask(line.id(), meter).await;
        if !line.hang_up().await? {
            tracing::warn!(meter, "the meter answered after the line was given away");
            return Ok(None);
        }
        value.map(Some)
    }

    async fn ask(&self, line: LineId, meter: u8) -> anyhow::Result<u32> {
        let mut stream = TcpStream::connect(&self.gateway).await?;
        let [hi, lo] = line.0.to_be_bytes();
        stream.write_all(&[0x10, hi, lo, meter, 0x16]).await?;
        let mut answer = [0u8; 4];
        stream
            .read_exact(&mut answer)
            .await
            .with_context(|| format!("meter {meter}"))?;
        Ok(u32::from_be_bytes(answer))
    }
}
