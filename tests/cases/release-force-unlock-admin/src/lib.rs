pub mod admin;
pub mod deploy;

pub(crate) fn environment_key(environment: &str) -> String {
    format!("deploy:{environment}:in-progress")
}
