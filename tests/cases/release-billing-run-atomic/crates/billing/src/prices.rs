use acme_kv::{Key, Kv};

/// Cached price lists. Evicted whenever the catalogue changes.
pub struct Prices {
    kv: Kv,
    env: String,
}

impl Prices {
    fn key(&self, plan: &str) -> Key {
        Key::new(&self.env, &["billing", "prices", plan])
    }

    pub async fn cents(&self, plan: &str) -> anyhow::Result<Option<u64>> {
        let cached = self.kv.fetch(&self.key(plan)).await?;
        Ok(cached.and_then(|c| c.parse().ok()))
    }

    pub async fn changed(&self, plan: &str, cents: u64) -> anyhow::Result<()> {
        let key = self.key(plan);
        if let Some(cached) = self.kv.fetch(&key).await? {
            if cached != cents.to_string() {
                self.kv.evict(&key).await?;
            }
        }
        Ok(())
    }
}
