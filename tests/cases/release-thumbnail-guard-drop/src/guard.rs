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

/// Held while an asset is being rendered; freed when it goes out of scope.
pub struct RenderLock {
    client: Client,
    key: String,
    token: String,
}

impl RenderLock {
    pub async fn take(client: &Client, asset: Uuid) -> rustis::Result<Option<Self>> {
        let key = format!("thumbs:render:{asset}");
        let token = Uuid::new_v4().to_string();
        let ours = client
            .set_with_options(
                key.clone(),
                token.clone(),
                SetCondition::NX,
                SetExpiration::Px(90_000),
            )
            .await?;
        Ok(ours.then(|| RenderLock {
            client: client.clone(),
            key,
            token,
        }))
    }
}

impl Drop for RenderLock {
    fn drop(&mut self) {
        let client = self.client.clone();
        let key = std::mem::take(&mut self.key);
        let token = std::mem::take(&mut self.token);
        tokio::spawn(async move {
            let call = CallBuilder::script(GIVE_BACK).keys(key).args(token);
            if let Err(error) = client.eval::<i64>(call).await {
                tracing::warn!(%error, "render lock not freed");
            }
        });
    }
}
