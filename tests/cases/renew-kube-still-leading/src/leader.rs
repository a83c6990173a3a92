use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kube::api::{Api, PostParams};
use tokio::sync::Notify;

#[derive(Clone, Debug)]
pub struct LeaseSettings {
    pub name: String,
    pub identity: String,
    pub duration: Duration,
    pub renew_every: Duration,
}

impl LeaseSettings {
    pub fn for_pod(identity: String) -> Self {
        Self {
            name: "dns-operator".into(),
            identity,
            duration: Duration::from_secs(30),
            renew_every: Duration::from_secs(8),
        }
    }
}

pub struct Leader {
    api: Api<Lease>,
    settings: LeaseSettings,
    leading: Arc<AtomicBool>,
    quit: Arc<Notify>,
}

impl Leader {
    pub fn new(api: Api<Lease>, settings: LeaseSettings) -> Self {
        Self {
            api,
            settings,
            leading: Arc::default(),
            quit: Arc::default(),
        }
    }

    pub fn is_leading(&self) -> bool {
        self.leading.load(Ordering::Acquire)
    }

    pub fn stop(&self) {
        self.quit.notify_one();
    }

    pub async fn run(&self) -> Result<(), kube::Error> {
        let mut held = self.wait_for_lease().await?;
        self.leading.store(true, Ordering::Release);
        tracing::info!(lease = %self.settings.name, "leading");

        loop {
            tokio::select! {
                _ = self.quit.notified() => break,
                _ = tokio::time::sleep(self.settings.renew_every) => {}
            }
            if let Some(spec) = held.spec.as_mut() {
                spec.renew_time = Some(MicroTime(jiff::Timestamp::now()));
            }
            match self
                .api
                .replace(&self.settings.name, &PostParams::default(), &held)
                .await
            {
                Ok(next) => held = next,
                Err(kube::Error::Api(e)) if e.code == 409 => {
                    tracing::warn!("lease was changed by somebody else: {}", e.message);
                }
                Err(e) => tracing::warn!("renewal failed: {e}"),
            }
        }

        self.leading.store(false, Ordering::Release);
        if let Some(spec) = held.spec.as_mut() {
            spec.holder_identity = None;
        }
        self.api
            .replace(&self.settings.name, &PostParams::default(), &held)
            .await?;
        Ok(())
    }

    /// Takes the lease when it is free or has not changed for its whole duration.
    async fn wait_for_lease(&self) -> Result<Lease, kube::Error> {
        let mut seen: Option<(String, Instant)> = None;
        loop {
            let taken = match self.api.get_opt(&self.settings.name).await? {
                None => self.api.create(&PostParams::default(), &self.blank()).await,
                Some(mut lease) => {
                    let version = lease.metadata.resource_version.clone().unwrap_or_default();
                    let free = lease
                        .spec
                        .as_ref()
                        .is_none_or(|s| s.holder_identity.is_none());
                    let since = match &seen {
                        Some((v, at)) if *v == version => *at,
                        _ => {
                            let now = Instant::now();
                            seen = Some((version, now));
                            now
                        }
                    };
                    if !free && since.elapsed() < self.settings.duration {
                        tokio::time::sleep(self.settings.renew_every / 4).await;
                        continue;
                    }
                    let spec = lease.spec.get_or_insert_default();
                    spec.holder_identity = Some(self.settings.identity.clone());
                    spec.lease_transitions = Some(spec.lease_transitions.unwrap_or(0) + 1);
                    self.api
                        .replace(&self.settings.name, &PostParams::default(), &lease)
                        .await
                }
            };
            match taken {
                Ok(lease) => return Ok(lease),
                Err(kube::Error::Api(e)) if e.code == 409 => continue,
                Err(e) => return Err(e),
            }
        }
    }

    fn blank(&self) -> Lease {
        Lease {
            metadata: ObjectMeta {
                name: Some(self.settings.name.clone()),
                ..Default::default()
            },
            spec: Some(LeaseSpec {
                holder_identity: Some(self.settings.identity.clone()),
                lease_duration_seconds: Some(30),
                ..Default::default()
            }),
        }
    }
}
