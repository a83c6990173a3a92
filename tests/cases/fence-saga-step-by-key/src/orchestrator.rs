use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use crate::steps::{Outcome, Step, StepError, Steps};

#[async_trait]
pub trait Action: Send + Sync {
    async fn perform(&self, step: &Step) -> Result<Value, String>;
}

pub struct Orchestrator {
    steps: Steps,
    actions: HashMap<String, Arc<dyn Action>>,
}

impl Orchestrator {
    pub async fn advance(&self) -> Result<bool, StepError> {
        let Some(step) = self.steps.claim().await? else {
            return Ok(false);
        };
        let result = match self.actions.get(&step.action) {
            Some(action) => action.perform(&step).await,
            None => Err(format!("no action {:?}", step.action)),
        };
        let outcome = match result {
            Ok(value) => Outcome {
                state: "done".into(),
                result: Some(value),
            },
            Err(why) => {
                tracing::warn!(saga = %step.saga, number = step.number, why, "step failed");
                Outcome {
                    state: "compensating".into(),
                    result: Some(Value::String(why)),
                }
            }
        };
        self.steps.record(&step, &outcome).await?;
        Ok(true)
    }
}
