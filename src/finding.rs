//! A finding: one defect at one place, with what a reader needs to believe it.
//!
//! Rules make findings, suppression and selection filter them, reports print them.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer, Serialize};

use crate::facts::Location;
use crate::harm::Harm;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Info,
    Warning,
    Error,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    Low,
    Medium,
    High,
}

/// A secondary place and what it has to do with the finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    pub location: Location,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Kebab-case, as in `rules/`.
    #[serde(deserialize_with = "name_of_rule")]
    pub rule: RuleName,
    pub severity: Severity,
    pub confidence: Confidence,
    /// One sentence, lower case, no full stop: what can happen.
    pub message: String,
    pub primary: Location,
    /// What stands at the primary place, for the reader of the source.
    pub primary_label: String,
    pub related: Vec<Label>,
    /// The lock's key template or table, when the finding is about one.
    pub lock: Option<String>,
    /// What to do.
    pub help: String,
    /// Edits that do it, where the text shows what to write.
    pub fixes: Vec<Fix>,
    /// A shortest run that ends in the harm.
    pub counterexample: Option<Counterexample>,
}

impl Finding {
    /// All places that it names.
    pub fn locations(&self) -> impl Iterator<Item = Location> + '_ {
        let related = self.related.iter().map(|label| label.location);
        let edits = self.fixes.iter().flat_map(|fix| &fix.edits).map(|edit| edit.location);
        let steps = self.counterexample.iter().flat_map(|run| &run.steps).map(|step| step.location);
        std::iter::once(self.primary).chain(related).chain(edits).chain(steps)
    }

    pub fn locations_mut(&mut self) -> impl Iterator<Item = &mut Location> + '_ {
        let related = self.related.iter_mut().map(|label| &mut label.location);
        let edits = self.fixes.iter_mut().flat_map(|fix| &mut fix.edits).map(|edit| &mut edit.location);
        let runs = self.counterexample.iter_mut();
        let steps = runs.flat_map(|run| &mut run.steps).map(|step| &mut step.location);
        std::iter::once(&mut self.primary).chain(related).chain(edits).chain(steps)
    }
}

/// One of the catalogue's.
pub type RuleName = &'static str;

/// There are as many names as rules, so that each is made once and stays.
fn name_of_rule<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RuleName, D::Error> {
    static NAMES: Mutex<BTreeSet<RuleName>> = Mutex::new(BTreeSet::new());

    let name = String::deserialize(deserializer)?;
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(names.get(name.as_str()).copied().unwrap_or_else(|| {
        let made: RuleName = Box::leak(name.into_boxed_str());
        names.insert(made);
        made
    }))
}

/// A run of the model of a lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counterexample {
    pub harm: Harm,
    pub steps: Vec<RunStep>,
}

/// One event of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStep {
    pub actor: Actor,
    /// What it does, or what happens to it.
    pub action: String,
    /// What the store or the database is like behind it, where that has changed or was asked.
    pub effect: Option<(Actor, String)>,
    /// The code that it is a step of; for a pause, the code that waits meanwhile.
    pub location: Location,
    /// These sources do not show the step itself.
    pub is_assumed: bool,
}

impl RunStep {
    /// In one line, for readers that have no columns.
    pub fn sentence(&self) -> String {
        let (actor, action) = (self.actor.name(), &self.action);
        match &self.effect {
            Some((on, text)) if *on != self.actor => format!("{actor}: {action} ({}: {text})", on.name()),
            Some((_, text)) => format!("{actor}: {action} ({text})"),
            None => format!("{actor}: {action}"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Actor {
    First,
    Second,
    Store,
    Database,
}

impl Actor {
    pub const ALL: [Self; 4] = [Self::First, Self::Second, Self::Store, Self::Database];

    pub fn name(self) -> &'static str {
        match self {
            Self::First => "worker 1",
            Self::Second => "worker 2",
            Self::Store => "store",
            Self::Database => "database",
        }
    }
}

/// How sure it is that an edit is what its author would write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Applicability {
    /// The code means the same, without the defect.
    Machine,
    /// It may be right; a person should look at it.
    Suggestion,
}

/// Edits that belong together: all of them, or none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// What is done, in the imperative.
    pub title: String,
    pub applicability: Applicability,
    /// By place; they neither touch nor overlap.
    pub edits: Vec<Edit>,
}

/// New text in the place of old.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    pub location: Location,
    pub replacement: String,
}

/// The figures of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Source files that were asked for.
    pub files: usize,
    /// Those of them that were worth parsing, and could be.
    pub parsed: usize,
    pub errors: usize,
    pub warnings: usize,
    pub infos: usize,
    pub suppressed: usize,
    pub baselined: usize,
}
