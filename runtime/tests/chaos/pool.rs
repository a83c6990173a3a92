//! A pool of few connections, which can be emptied: the holder's own work then waits, and its renewals must not.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use leasehold::fence::postgres::Connections;
use leasehold::store::Cause;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_postgres::{Client, Config, NoTls};

const SIZE: u32 = 3;

#[derive(Clone)]
pub struct Pool(Arc<Shared>);

struct Shared {
    config: Config,
    free: Arc<Semaphore>,
    idle: Mutex<Vec<Client>>,
}

pub struct Pooled {
    client: Client,
    _place: OwnedSemaphorePermit,
}

impl Pool {
    pub fn new(config: Config) -> Self {
        let free = Arc::new(Semaphore::new(SIZE as usize));
        Self(Arc::new(Shared { config, free, idle: Mutex::default() }))
    }

    /// Takes every connection for a while.
    pub async fn exhaust(&self, span: Duration) {
        let all = Arc::clone(&self.0.free).acquire_many_owned(SIZE).await;
        tokio::time::sleep(span).await;
        drop(all);
    }
}

impl Connections for Pool {
    type Connection = Pooled;

    async fn take(&self) -> Result<Pooled, Cause> {
        let place = Arc::clone(&self.0.free).acquire_owned().await?;
        loop {
            let idle = self.0.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            match idle {
                Some(client) if client.is_closed() => {}
                Some(client) => return Ok(Pooled { client, _place: place }),
                None => break,
            }
        }
        let (client, connection) = self.0.config.connect(NoTls).await?;
        // Its end is seen by whoever uses it next.
        tokio::spawn(connection);
        Ok(Pooled { client, _place: place })
    }

    fn client(connection: &Pooled) -> &Client {
        &connection.client
    }

    fn discard(&self, connection: Pooled) {
        drop(connection);
    }

    fn give_back(&self, connection: Pooled) {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection.client);
    }
}
