//! What a project shows of itself, and the configuration that is proposed for it: its databases, its histories, the
//! clients that we know, and wrappers whose sources are elsewhere. It writes no file, and guesses nothing that would
//! hold without a person's look: what is only likely is proposed behind a `#`.

mod databases;
mod histories;
mod known;
mod verbs;
mod wrappers;
mod written;

use crate::check::Survey;
use crate::resolve::Models;

/// What can be said of a project before anybody has said anything.
#[derive(Debug)]
pub struct Proposal {
    databases: databases::Databases,
    histories: Vec<histories::History>,
    clients: Vec<known::Client>,
    wrappers: Vec<wrappers::Wrapper>,
}

impl Proposal {
    pub fn of(survey: &Survey, models: &Models) -> Self {
        Self {
            databases: databases::seen(survey),
            histories: histories::seen(survey),
            clients: known::seen(survey, models),
            wrappers: wrappers::seen(survey, models),
        }
    }

    /// A `leaselint.toml`, with comments.
    pub fn toml(&self) -> String {
        written::toml(self)
    }

    /// How many wrappers are proposed.
    pub fn wrappers(&self) -> usize {
        self.wrappers.len()
    }
}
