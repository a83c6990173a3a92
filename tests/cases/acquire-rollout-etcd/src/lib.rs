pub mod agents;
pub mod rollout;
