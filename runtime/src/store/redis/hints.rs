//! Hints from Redis: a second connection that subscribes to the releases of keys for which somebody waits.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::StreamExt;
use redis::aio::{PubSub, PubSubSink, PubSubStream};
use redis::{Client, RedisError};
use tokio::sync::{Mutex, mpsc, oneshot};
use tracing::debug;

use super::failure::failure;
use crate::key::LeaseKey;
use crate::store::{StoreError, Waiters, Watch};

/// What the listener is asked: subscribe to the channel of a key, and say when that is done.
struct Wanted {
    key: LeaseKey,
    channel: String,
    done: oneshot::Sender<()>,
}

#[derive(Default)]
pub(in crate::store) struct Hints {
    waiters: Arc<Waiters>,
    listener: Mutex<Option<mpsc::UnboundedSender<Wanted>>>,
}

impl Hints {
    /// Begins to listen for the releases of `key`, which are published on `channel`.
    pub(in crate::store) async fn listen(
        &self,
        clients: &[Client],
        key: &LeaseKey,
        channel: String,
    ) -> Result<Watch, StoreError> {
        const ACTION: &str = "listening for releases";
        let watch = self.waiters.join(key);
        let (done, subscribed) = oneshot::channel();
        let wanted = Wanted { key: key.clone(), channel, done };
        {
            let mut listener = self.listener.lock().await;
            let unsent = match &*listener {
                Some(sender) => sender.send(wanted).map_err(|back| back.0).err(),
                None => Some(wanted),
            };
            if let Some(wanted) = unsent {
                let pubsub = subscription(clients).await.map_err(|error| failure(ACTION, error))?;
                let (sender, requests) = mpsc::unbounded_channel();
                // Cannot fail: the other end is in our hands.
                let _sent = sender.send(wanted);
                let (sink, stream) = pubsub.split();
                tokio::spawn(pass_on(sink, stream, requests, Arc::clone(&self.waiters)));
                *listener = Some(sender);
            }
        }
        subscribed.await.map_err(|_| StoreError::Unreachable {
            store: super::NAME,
            action: ACTION,
            cause: "the connection for hints broke".into(),
        })?;
        Ok(watch)
    }
}

/// From the first of the servers that can be reached; each hears what is published on any.
async fn subscription(clients: &[Client]) -> Result<PubSub, RedisError> {
    let mut refusal = (redis::ErrorKind::InvalidClientConfig, "there is no server to listen to").into();
    for client in clients {
        match client.get_async_pubsub().await {
            Ok(pubsub) => return Ok(pubsub),
            Err(error) => refusal = error,
        }
    }
    Err(refusal)
}

/// Runs until the store is dropped or the connection breaks; then everybody waits without hints.
async fn pass_on(
    mut sink: PubSubSink,
    mut stream: PubSubStream,
    mut requests: mpsc::UnboundedReceiver<Wanted>,
    waiters: Arc<Waiters>,
) {
    let mut channels: HashMap<String, LeaseKey> = HashMap::new();
    loop {
        tokio::select! {
            wanted = requests.recv() => {
                let Some(Wanted { key, channel, done }) = wanted else { break };
                if let Err(error) = drop_unwanted(&mut sink, &mut channels, &waiters).await {
                    debug!(%error, "hints end");
                    break;
                }
                if let Err(error) = sink.subscribe(&channel).await {
                    debug!(%error, "hints end");
                    break;
                }
                channels.insert(channel, key);
                // The waiter may have gone in the meantime.
                let _unheard = done.send(());
            }
            message = stream.next() => {
                let Some(message) = message else { break };
                if let Some(key) = channels.get(message.get_channel_name()) {
                    waiters.wake(key);
                }
            }
        }
    }
    waiters.dismiss();
}

/// Unsubscribes from what nobody waits for any more, so that the number of channels stays that of waiters.
async fn drop_unwanted(
    sink: &mut PubSubSink,
    channels: &mut HashMap<String, LeaseKey>,
    waiters: &Waiters,
) -> Result<(), RedisError> {
    let unwanted: Vec<String> =
        channels.iter().filter(|(_, key)| !waiters.has(key)).map(|(channel, _)| channel.clone()).collect();
    for channel in unwanted {
        sink.unsubscribe(&channel).await?;
        channels.remove(&channel);
    }
    Ok(())
}
