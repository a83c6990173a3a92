use tokio_postgres::{Client, Transaction};

use crate::lease::WriterLease;
use crate::{statements, WriterError};

/// Proves, until the transaction ends, that the lease was not taken over.
async fn fence(tx: &Transaction<'_>, lease: &WriterLease) -> Result<(), WriterError> {
    tx.query_opt(statements::CHECK, &[&lease.name, &lease.epoch])
        .await?
        .map(drop)
        .ok_or(WriterError::Superseded)
}

pub async fn store(
    client: &mut Client,
    lease: &WriterLease,
    stream: &str,
    position: i64,
    body: serde_json::Value,
) -> Result<(), WriterError> {
    let tx = client.transaction().await?;
    if let Err(refused) = fence(&tx, lease).await {
        tx.rollback().await?;
        return Err(refused);
    }
    tx.execute(statements::STORE, &[&stream, &position, &body])
        .await?;
    tx.commit().await?;
    Ok(())
}
