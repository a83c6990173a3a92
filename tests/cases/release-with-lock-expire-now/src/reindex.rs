use std::time::Duration;

use serde_json::json;

use crate::exclusive::{with_lock, Pool};
use crate::Error;

pub struct Reindexer {
    pool: Pool,
    elastic: String,
    http: reqwest::Client,
}

impl Reindexer {
    pub async fn reindex(&self, index: &str) -> Result<(), Error> {
        let name = format!("reindex:{index}");
        with_lock(&self.pool, &name, Duration::from_secs(300), || async {
            self.copy(index).await?;
            self.swap_alias(index).await
        })
        .await
    }

    async fn copy(&self, index: &str) -> Result<(), Error> {
        self.http
            .post(format!(
                "{}/_reindex?wait_for_completion=true",
                self.elastic
            ))
            .json(&json!({
                "source": { "index": index },
                "dest": { "index": format!("{index}-next"), "op_type": "create" },
            }))
            .send()
            .await?
            .error_for_status()?;
        Ok(())
    }

    async fn swap_alias(&self, index: &str) -> Result<(), Error> {
        self.http
            .post(format!("{}/_aliases", self.elastic))
            .json(&json!({ "actions": [
                { "remove": { "index": index, "alias": "live" } },
                { "add": { "index": format!("{index}-next"), "alias": "live" } },
            ]}))
            .send()
            .await?
            .error_for_status()?;
        Ok(())
    }
}
