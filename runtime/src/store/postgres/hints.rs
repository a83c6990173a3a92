//! Hints from PostgreSQL: a second connection that listens to the notifications that releases send.

use std::future::poll_fn;
use std::sync::Arc;

use tokio::sync::Mutex;
use tokio_postgres::{AsyncMessage, Client, Config, NoTls};
use tracing::debug;

use super::failure::failure;
use crate::key::LeaseKey;
use crate::store::{StoreError, Waiters, Watch};

#[derive(Default)]
pub(super) struct Hints {
    waiters: Arc<Waiters>,
    /// Kept because dropping it would end the connection.
    listener: Mutex<Option<Client>>,
}

impl Hints {
    /// Begins to listen for the releases of `key`.
    pub(super) async fn listen(&self, config: &Config, key: &LeaseKey) -> Result<Watch, StoreError> {
        const ACTION: &str = "listening for releases";
        let mut listener = self.listener.lock().await;
        if listener.as_ref().is_none_or(Client::is_closed) {
            let (client, mut connection) =
                config.connect(NoTls).await.map_err(|error| failure(ACTION, error))?;
            let waiters = Arc::clone(&self.waiters);
            tokio::spawn(async move {
                while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
                    let AsyncMessage::Notification(note) = message else { continue };
                    if let Ok(key) = LeaseKey::new(note.payload()) {
                        waiters.wake(&key);
                    }
                }
                debug!("hints end");
                waiters.dismiss();
            });
            client.batch_execute("LISTEN leasehold").await.map_err(|error| failure(ACTION, error))?;
            *listener = Some(client);
        }
        Ok(self.waiters.join(key))
    }
}
