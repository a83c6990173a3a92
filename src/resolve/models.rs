//! Client models: which calls of which libraries are operations on a store. They are data, in
//! `rules/clients/*.toml`; this module reads them and answers by name.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::value::WriteCondition;

include!(concat!(env!("OUT_DIR"), "/clients.rs"));

/// Everything that the model files say.
#[derive(Debug, Default)]
pub struct Models {
    methods: HashMap<String, Vec<Method>>,
    /// Path tails such as `ExistenceCheck::NX`.
    conditions: HashMap<String, WriteCondition>,
    /// Path tails such as `SetExpiry::PX`.
    expiries: HashMap<String, Unit>,
    /// Types and traits of connections, by the last segment of their path.
    connections: HashMap<String, String>,
    /// Crates, or modules that re-export them, whose import makes a common method name an operation.
    crates: Vec<String>,
    statements: HashMap<String, Statement>,
    queries: HashMap<String, Query>,
    counts: Vec<String>,
    pub signals: Signals,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ModelFile {
    /// The library; documentation only.
    #[allow(dead_code)]
    client: String,
    #[serde(default)]
    crates: Vec<String>,
    #[serde(default)]
    connections: Vec<String>,
    #[serde(default)]
    method: Vec<Method>,
    #[serde(default)]
    condition: Vec<ConditionEntry>,
    #[serde(default)]
    expiry: Vec<ExpiryEntry>,
    #[serde(default)]
    statement: Vec<Statement>,
    #[serde(default)]
    query: Vec<Query>,
    #[serde(default)]
    counts: Vec<String>,
    #[serde(default)]
    signals: Signals,
}

/// A method call that is one command to the store.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Method {
    pub names: Vec<String>,
    pub action: ActionName,
    /// Only calls with so many arguments.
    pub args: Option<usize>,
    #[serde(default)]
    pub condition: ConditionName,
    pub key: Option<usize>,
    pub value: Option<usize>,
    /// The argument that holds the lifetime, and its unit.
    pub ttl: Option<usize>,
    #[serde(default)]
    pub unit: Unit,
    /// The name says it, whatever the receiver is.
    #[serde(default)]
    pub distinct: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActionName {
    Set,
    Get,
    GetDelete,
    Exists,
    Delete,
    Expire,
    Increment,
    Script,
    Watch,
    Unwatch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConditionName {
    #[default]
    Always,
    IfAbsent,
    IfPresent,
    IfEqual,
}

impl From<ConditionName> for WriteCondition {
    fn from(name: ConditionName) -> Self {
        match name {
            ConditionName::Always => WriteCondition::Always,
            ConditionName::IfAbsent => WriteCondition::IfAbsent,
            ConditionName::IfPresent => WriteCondition::IfPresent,
            ConditionName::IfEqual => WriteCondition::IfEqual,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    #[default]
    Seconds,
    Milliseconds,
    SecondsOfDay,
    MillisecondsOfDay,
    Keep,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConditionEntry {
    path: String,
    condition: ConditionName,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpiryEntry {
    path: String,
    unit: Unit,
}

/// A method that runs SQL given as an argument.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    names: Vec<String>,
    pub text: usize,
    pub binds: Option<usize>,
}

/// A function or macro that makes a query to be run later.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    names: Vec<String>,
    pub text: usize,
    /// The argument names a file with the text.
    #[serde(default)]
    pub file: bool,
}

/// What shows that a program handles SIGTERM.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Signals {
    /// Path tails.
    pub paths: Vec<String>,
    /// Methods.
    pub methods: Vec<String>,
    /// Path tails that do so only with this feature of their crate.
    pub with_feature: Vec<FeatureSignal>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureSignal {
    pub path: String,
    #[serde(rename = "crate")]
    pub name: String,
    pub feature: String,
}

static MODELS: LazyLock<Models> = LazyLock::new(|| {
    let mut models = Models::default();
    for (name, text) in CLIENTS {
        let file: ModelFile =
            toml::from_str(text).unwrap_or_else(|error| panic!("rules/clients/{name}.toml: {error}"));
        models.add(file);
    }
    models
});

impl Models {
    pub fn built_in() -> &'static Models {
        &MODELS
    }

    fn add(&mut self, file: ModelFile) {
        for connection in file.connections {
            self.connections.insert(connection, file.client.clone());
        }
        self.crates.extend(file.crates);
        for method in file.method {
            for name in &method.names {
                self.methods.entry(name.clone()).or_default().push(method.clone());
            }
        }
        self.conditions.extend(file.condition.into_iter().map(|entry| (entry.path, entry.condition.into())));
        self.expiries.extend(file.expiry.into_iter().map(|entry| (entry.path, entry.unit)));
        for statement in file.statement {
            for name in statement.names.clone() {
                self.statements.insert(name, statement.clone());
            }
        }
        for query in file.query {
            for name in query.names.clone() {
                self.queries.insert(name, query.clone());
            }
        }
        self.counts.extend(file.counts);
        self.signals.paths.extend(file.signals.paths);
        self.signals.methods.extend(file.signals.methods);
        self.signals.with_feature.extend(file.signals.with_feature);
    }

    pub fn method(&self, name: &str, args: usize) -> Option<&Method> {
        let candidates = self.methods.get(name)?;
        let exact = candidates.iter().find(|method| method.args == Some(args));
        exact.or_else(|| candidates.iter().find(|method| method.args.is_none()))
    }

    /// Whether a path makes a command, a script or a pipeline.
    pub fn makes_command(&self, path: &[String]) -> bool {
        let name = path.last().map_or("", String::as_str);
        matches!(name, "cmd" | "pipe")
            || path.iter().any(|segment| segment == "Script" || segment == "Cmd")
            || path.len() > 1 && self.is_connection(&path[path.len() - 2])
    }

    pub fn condition(&self, path: &[String]) -> Option<WriteCondition> {
        self.conditions.get(&tail(path)?).copied()
    }

    pub fn expiry(&self, path: &[String]) -> Option<Unit> {
        self.expiries.get(&tail(path)?).copied()
    }

    pub fn is_connection(&self, type_name: &str) -> bool {
        self.connections.contains_key(type_name)
    }

    /// Whether a path leads into a client library, also through a re-export.
    pub fn is_client_path(&self, path: &[String]) -> bool {
        path.iter().any(|segment| self.crates.iter().any(|name| name == segment))
    }

    pub fn statement(&self, method: &str) -> Option<&Statement> {
        self.statements.get(method)
    }

    pub fn query(&self, name: &str) -> Option<&Query> {
        self.queries.get(name)
    }

    /// Whether a method or field of this name gives the affected-row count.
    pub fn is_count(&self, name: &str) -> bool {
        self.counts.iter().any(|count| count == name)
    }
}

/// The last two segments.
fn tail(path: &[String]) -> Option<String> {
    let from = path.len().checked_sub(2)?;
    Some(path[from..].join("::"))
}
