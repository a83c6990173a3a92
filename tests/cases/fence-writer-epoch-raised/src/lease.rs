use tokio_postgres::Client;
use uuid::Uuid;

use crate::{statements, WriterError};

#[derive(Clone, Debug)]
pub struct WriterLease {
    pub(crate) name: String,
    pub(crate) epoch: i64,
    holder: Uuid,
}

pub async fn acquire(client: &Client, name: &str) -> Result<Option<WriterLease>, WriterError> {
    let holder = Uuid::new_v4();
    let row = client
        .query_opt(statements::ACQUIRE, &[&name, &holder])
        .await?;
    Ok(row.map(|row| WriterLease {
        name: name.to_owned(),
        epoch: row.get(0),
        holder,
    }))
}

impl WriterLease {
    pub async fn renew(&self, client: &Client) -> Result<(), WriterError> {
        let kept = client
            .execute(statements::RENEW, &[&self.name, &self.holder, &self.epoch])
            .await?;
        if kept == 1 {
            Ok(())
        } else {
            Err(WriterError::Superseded)
        }
    }
}
