use rustis::client::Client;
use rustis::commands::{
    CallBuilder, ScriptingCommands, SetCondition, SetExpiration, StringCommands,
};
use uuid::Uuid;

const GIVE_BACK: &str = r"
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
";

struct Held {
    client: Client,
    key: String,
    token: String,
}

impl Held {
    async fn give_back(self) -> rustis::Result<bool> {
        let call = CallBuilder::script(GIVE_BACK)
            .keys(self.key)
            .args(self.token);
        let freed: i64 = self.client.eval(call).await?;
        Ok(freed == 1)
    }
}

/// Held while an asset is being rendered.
pub struct RenderLock(Option<Held>);

impl RenderLock {
    pub async fn take(client: &Client, asset: Uuid) -> rustis::Result<Option<Self>> {
        let held = Held {
            client: client.clone(),
            key: format!("thumbs:render:{asset}"),
            token: Uuid::new_v4().to_string(),
        };
        let ours = client
            .set_with_options(
                held.key.clone(),
                held.token.clone(),
                SetCondition::NX,
                SetExpiration::Px(90_000),
            )
            .await?;
        Ok(ours.then(|| RenderLock(Some(held))))
    }

    /// The normal way out. False if the lock had run out before.
    pub async fn release(mut self) -> rustis::Result<bool> {
        match self.0.take() {
            Some(held) => held.give_back().await,
            None => Ok(false),
        }
    }
}

impl Drop for RenderLock {
    /// Only reached with a lock inside when the render was cancelled.
    fn drop(&mut self) {
        let Some(held) = self.0.take() else { return };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                match held.give_back().await {
                    Ok(freed) => tracing::debug!(freed, "lock of a cancelled render"),
                    Err(error) => tracing::warn!(%error, "lock of a cancelled render"),
                }
            });
        }
    }
}
