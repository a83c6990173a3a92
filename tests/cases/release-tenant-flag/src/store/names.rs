/// Everything in this service that only one instance may do at a time.
#[derive(Clone, Copy, Debug)]
pub enum LockName {
    Provision { tenant: i64 },
    PlanSync,
    CertificateRotation { region: &'static str },
}

impl LockName {
    pub fn to_key(self) -> String {
        match self {
            LockName::Provision { tenant } => format!("tenantctl:provision:{tenant}"),
            LockName::PlanSync => "tenantctl:plan-sync".to_owned(),
            LockName::CertificateRotation { region } => format!("tenantctl:certs:{region}"),
        }
    }

    pub fn ttl_ms(self) -> u64 {
        match self {
            LockName::Provision { .. } => 120_000,
            LockName::PlanSync => 30_000,
            LockName::CertificateRotation { .. } => 600_000,
        }
    }
}
