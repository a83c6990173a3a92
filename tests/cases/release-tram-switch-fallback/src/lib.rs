mod switch;

use std::future::Future;

pub use switch::Switch;

/// Runs `f` while nobody else moves the switch.
pub async fn with_switch<F, T>(redis: &fred::clients::Client, id: u32, f: impl FnOnce() -> F) -> anyhow::Result<Option<T>>
where
    F: Future<Output = T>,
{
    let Some(held) = Switch::seize(redis, id).await? else {
        return Ok(None);
    };
    let out = f().await;
    anyhow::ensure!(held.let_go().await?, "switch {id} was moved by somebody else meanwhile");
    Ok(Some(out))
}
