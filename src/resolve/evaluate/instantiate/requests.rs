//! Requests and transactions under construction in a callee, seen from its caller.

use super::Arguments;
use crate::resolve::value::{HttpRequest, TransactionBuilder, TransactionPart};

impl Arguments<'_> {
    pub(super) fn request(&self, request: &HttpRequest, depth: usize) -> HttpRequest {
        HttpRequest {
            method: self.value(&request.method, depth),
            url: self.value(&request.url, depth),
            query: request.query.iter().map(|(n, v)| (self.value(n, depth), self.value(v, depth))).collect(),
            body: request.body.as_ref().map(|body| self.value(body, depth)),
        }
    }

    pub(super) fn transaction_part(&self, part: &TransactionPart, depth: usize) -> TransactionPart {
        match part {
            TransactionPart::Condition { key, condition } => {
                TransactionPart::Condition { key: Box::new(self.value(key, depth)), condition: *condition }
            }
            TransactionPart::Step { command, args } => TransactionPart::Step {
                command: command.clone(),
                args: args.iter().map(|arg| self.value(arg, depth)).collect(),
            },
        }
    }

    pub(super) fn transaction(&self, builder: &TransactionBuilder, depth: usize) -> TransactionBuilder {
        TransactionBuilder {
            conditions: builder.conditions.iter().map(|part| self.value(part, depth)).collect(),
            steps: builder.steps.iter().map(|part| self.value(part, depth)).collect(),
        }
    }
}
