use serde::Serialize;

#[derive(Serialize)]
pub struct InvoiceRequest {
    pub customer: u64,
    pub period: String,
    /// The provider refuses a second invoice with the same key.
    pub idempotency_key: String,
}

pub struct Provider {
    http: reqwest::Client,
    base: String,
}

impl Provider {
    pub fn new(base: impl Into<String>) -> Self {
        Provider {
            http: reqwest::Client::new(),
            base: base.into(),
        }
    }

    pub async fn issue(&self, req: &InvoiceRequest) -> anyhow::Result<()> {
        self.http
            .post(format!("{}/v1/invoices", self.base))
            .json(req)
            .send()
            .await?
            .error_for_status()?;
        Ok(())
    }
}
