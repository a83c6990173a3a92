use chrono::{TimeDelta, Utc};
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::Error;
use kube::api::{Api, ObjectMeta, PostParams};

const SECONDS: i32 = 20;

pub struct Candidate {
    pub api: Api<Lease>,
    pub lease_name: String,
    pub pod: String,
}

#[derive(Debug)]
pub enum Outcome {
    Leader(Lease),
    Follower,
}

/// Has the holder been silent for too long?
fn is_stale(spec: &LeaseSpec) -> bool {
    let Some(MicroTime(renewed)) = spec.renew_time else {
        return true;
    };
    let silence = Utc::now() - renewed;
    silence > TimeDelta::seconds(spec.lease_duration_seconds.unwrap_or(SECONDS).into())
}

impl Candidate {
    /// One try. `replace` sends the resourceVersion, so only one candidate can win.
    pub async fn campaign(&self) -> Result<Outcome, Error> {
        let Some(mut lease) = self.api.get_opt(&self.lease_name).await? else {
            return settle(
                self.api
                    .create(&PostParams::default(), &self.new_lease())
                    .await,
            );
        };
        let spec = lease.spec.get_or_insert_with(Default::default);
        let vacant = spec.holder_identity.as_deref().is_none_or(str::is_empty);
        if !vacant && !is_stale(spec) {
            return Ok(Outcome::Follower);
        }
        spec.holder_identity = Some(self.pod.clone());
        spec.lease_duration_seconds = Some(SECONDS);
        spec.lease_transitions = Some(spec.lease_transitions.unwrap_or(0) + 1);
        spec.acquire_time = Some(MicroTime(Utc::now()));
        spec.renew_time = Some(MicroTime(Utc::now()));
        settle(
            self.api
                .replace(&self.lease_name, &PostParams::default(), &lease)
                .await,
        )
    }

    /// Returns the fresh object, or `Follower` after a conflict.
    pub async fn renew(&self, mut held: Lease) -> Result<Outcome, Error> {
        if let Some(spec) = held.spec.as_mut() {
            spec.renew_time = Some(MicroTime(Utc::now()));
        }
        settle(
            self.api
                .replace(&self.lease_name, &PostParams::default(), &held)
                .await,
        )
    }

    pub async fn resign(&self, mut held: Lease) -> Result<(), Error> {
        if let Some(spec) = held.spec.as_mut() {
            spec.holder_identity = None;
        }
        match settle(
            self.api
                .replace(&self.lease_name, &PostParams::default(), &held)
                .await,
        )? {
            Outcome::Leader(_) => tracing::info!("resigned"),
            Outcome::Follower => tracing::warn!("somebody else was leading already"),
        }
        Ok(())
    }

    fn new_lease(&self) -> Lease {
        Lease {
            metadata: ObjectMeta {
                name: Some(self.lease_name.clone()),
                ..ObjectMeta::default()
            },
            spec: Some(LeaseSpec {
                holder_identity: Some(self.pod.clone()),
                lease_duration_seconds: Some(SECONDS),
                renew_time: Some(MicroTime(Utc::now())),
                ..LeaseSpec::default()
            }),
        }
    }
}

fn settle(answer: Result<Lease, Error>) -> Result<Outcome, Error> {
    match answer {
        Ok(lease) => Ok(Outcome::Leader(lease)),
        Err(Error::Api(e)) if e.code == 409 => Ok(Outcome::Follower),
        Err(e) => Err(e),
    }
}
