use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;

use crate::named_lock::NamedLock;

pub struct Uploader {
    lock: Arc<dyn NamedLock>,
    http: reqwest::Client,
    tax_office: String,
}

impl Uploader {
    pub fn new(lock: Arc<dyn NamedLock>, tax_office: String) -> Self {
        Uploader {
            lock,
            http: reqwest::Client::new(),
            tax_office,
        }
    }

    /// The tax office takes one upload per company at a time.
    pub async fn upload(&self, company: u32, invoices: String) -> anyhow::Result<()> {
        let name = format!("tax-upload-{company}");
        if !self.lock.lock(&name, Duration::from_secs(10)).await? {
            bail!("company {company} is being uploaded");
        }
        let sent = self.send(company, invoices).await;
        self.lock.unlock(&name).await?;
        tracing::debug!(company, ok = sent.is_ok(), "upload over");
        sent
    }

    async fn send(&self, company: u32, invoices: String) -> anyhow::Result<()> {
        self.http
            .post(format!("{}/companies/{company}/invoices", self.tax_office))
            .body(invoices)
            .send()
            .await?
            .error_for_status()?;
        Ok(())
    }
}
