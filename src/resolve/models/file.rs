//! The form of a model file: `rules/clients/<library>.toml`, and each `[[client]]` of a `leaselint.toml`. What
//! its entries mean to the evaluator is not its business.

use std::sync::Arc;

use serde::Deserialize;

use crate::locks::Advice;
use crate::resolve::value::WriteCondition;

/// What one file says of one library.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ClientModel {
    /// The library, for people.
    #[serde(alias = "name")]
    client: String,
    #[serde(default)]
    pub(super) crates: Vec<String>,
    /// Packages by which a manifest shows that the library is used, where `crates` does not say it.
    #[serde(default)]
    pub(super) packages: Vec<String>,
    /// Types and traits by the last segment of their path; `Api<Lease>` asks for a type argument as well.
    #[serde(default)]
    pub(super) connections: Vec<String>,
    /// Names that projects give to connections by custom; no type of the library is called so.
    #[serde(default)]
    pub(super) aliases: Vec<String>,
    /// All keys of this library are locks, whatever else is seen of them.
    #[serde(default)]
    pub(super) locks: bool,
    /// What its users should do instead of what a rule flags.
    #[serde(default)]
    pub(super) advice: Option<Arc<Advice>>,
    #[serde(default)]
    pub(super) method: Vec<Command>,
    #[serde(default)]
    pub(super) function: Vec<Command>,
    #[serde(default)]
    pub(super) condition: Vec<ConditionEntry>,
    #[serde(default)]
    pub(super) expiry: Vec<ExpiryEntry>,
    /// Path tails that make the options of a SET.
    #[serde(default)]
    pub(super) options: Vec<String>,
    #[serde(default)]
    pub(super) transaction: Option<Transaction>,
    #[serde(default)]
    pub(super) compare: Vec<Compare>,
    #[serde(default)]
    pub(super) statement: Vec<Statement>,
    #[serde(default)]
    pub(super) preparation: Vec<Statement>,
    #[serde(default)]
    pub(super) query: Vec<Query>,
    #[serde(default)]
    pub(super) builder: Vec<Builder>,
    #[serde(default)]
    pub(super) counts: Vec<String>,
    #[serde(default)]
    pub(super) signals: Signals,
    /// Requests over HTTP that are operations, the more specific first.
    #[serde(default)]
    pub(super) request: Vec<Request>,
    /// Crates whose requests these may be.
    #[serde(default)]
    pub(super) http_crates: Vec<String>,
}

impl ClientModel {
    /// What the file calls the library.
    pub fn name(&self) -> &str {
        &self.client
    }
}

/// Chains of calls that are put together into a statement.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Builder {
    pub crates: Vec<String>,
    /// Functions and constants that begin a chain, by the last segments of their paths.
    pub functions: Vec<String>,
    /// Functions of a table that begin a chain.
    #[serde(default)]
    pub entities: Vec<String>,
    /// Methods that run a chain.
    pub runs: Vec<String>,
}

/// A call that is one command to the store: a method by its name, or a function by the last two segments of
/// its path.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Command {
    #[serde(alias = "paths")]
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
    /// The argument with the options; what it says is unknown when it is made elsewhere.
    pub options: Option<usize>,
    /// The argument with the expected revision; without one nothing is compared.
    pub revision: Option<usize>,
    /// The argument with a document that is merged into the object under the key.
    pub document: Option<MergeWords>,
    /// The argument that an acquire gave; it stands for the key.
    pub handle: Option<usize>,
    /// The type of what it gives, where later calls need that.
    pub makes: Option<String>,
    /// The argument that is run after a WATCH, with the connection and the queue of the transaction.
    pub runs: Option<usize>,
    /// The receiver stands for the key.
    #[serde(default)]
    pub receiver: bool,
    /// The store's own configuration ends the key's life.
    #[serde(default)]
    pub store_lifetime: bool,
    /// How the caller hears that a condition did not hold.
    #[serde(default)]
    pub refusal: Refusal,
    /// The name says it, whatever the receiver is.
    #[serde(default)]
    pub distinct: bool,
    /// A function that makes a step of a transaction and sends nothing.
    #[serde(default)]
    pub queued: bool,
    /// The number of its library.
    #[serde(skip)]
    pub client: usize,
    /// All keys of its library are locks.
    #[serde(skip)]
    pub is_lock: bool,
    /// Its library's.
    #[serde(skip)]
    pub advice: Option<Arc<Advice>>,
}

/// An argument with a document that is merged into an object, and the words in it that say what that does to
/// a lease.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MergeWords {
    pub argument: usize,
    /// It names the version that was read, and is refused when there is another.
    pub version: String,
    /// It names the holder, or nobody.
    pub holder: String,
    /// It moves the end of the lease.
    pub deadline: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActionName {
    Set,
    /// Merges a document into the object under the key.
    Merge,
    Get,
    GetDelete,
    /// Makes a lease, or a session, that keys are tied to; its reply stands for it.
    Grant,
    /// Gives the lease under `key` more time.
    KeepAlive,
    /// Reads what the store answered to the last of these.
    KeepAliveAnswer,
    /// Ends the lease under `key`, and with it the keys tied to it.
    Revoke,
    Exists,
    Delete,
    Expire,
    Increment,
    Script,
    Watch,
    Unwatch,
    /// A lock library's acquire, with an owner value that the library makes.
    Lock,
    /// Its release, which compares.
    Unlock,
    /// Its renewal, which compares.
    Extend,
    /// Names a key to a value of the type `makes`, and sends nothing.
    Name,
    /// Starts a MULTI, or a pipeline: what is called on it is queued until it is sent.
    Multi,
    Pipeline,
    /// Sends a transaction.
    Transaction,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConditionName {
    #[default]
    Always,
    IfAbsent,
    IfPresent,
    IfEqual,
    IfUnchanged,
}

impl From<ConditionName> for WriteCondition {
    fn from(name: ConditionName) -> Self {
        match name {
            ConditionName::Always => WriteCondition::Always,
            ConditionName::IfAbsent => WriteCondition::IfAbsent,
            ConditionName::IfPresent => WriteCondition::IfPresent,
            ConditionName::IfEqual => WriteCondition::IfEqual,
            ConditionName::IfUnchanged => WriteCondition::IfUnchanged,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// By the value in `Ok`.
    #[default]
    Answer,
    /// By an `Err`.
    Error,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConditionEntry {
    pub(super) path: String,
    pub(super) condition: ConditionName,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpiryEntry {
    pub(super) path: String,
    pub(super) unit: Unit,
}

/// A request over HTTP that is an operation. The key, or the lease, is what follows `path` in its URL.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Request {
    pub method: String,
    pub path: String,
    /// The parameter that its query has.
    pub with: Option<String>,
    pub action: ActionName,
    /// With the revision that `with` gives: 0 while there is no such key.
    #[serde(default)]
    pub of_revision: bool,
    /// `with` gives the lease that the key is tied to.
    #[serde(default)]
    pub of_lease: bool,
    /// The word in the document of its body that gives the lifetime.
    pub ttl_word: Option<String>,
    /// Its library's.
    #[serde(skip)]
    pub advice: Option<Arc<Advice>>,
}

/// How a transaction is put together.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Transaction {
    /// The path tail that makes an empty one.
    pub(super) new: String,
    /// The methods that take its conditions, and what is done when all of them hold.
    pub(super) when: String,
    pub(super) then: String,
}

/// A function that makes a condition of a transaction: its arguments are the key, the operator, the number
/// or value that the key is compared with.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Compare {
    pub(super) path: String,
    pub(super) of: Compared,
}

/// What of a key a transaction compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compared {
    /// What is stored.
    Value,
    /// A count that is 0 while the key does not exist.
    Revision,
}

/// A method that runs SQL given as an argument.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    pub(super) names: Vec<String>,
    pub text: usize,
    pub binds: Option<usize>,
}

/// A function or macro that makes a query to be run later.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    pub(super) names: Vec<String>,
    pub text: usize,
    /// The argument names a file with the text.
    #[serde(default)]
    pub file: bool,
}

/// What shows that a program handles SIGTERM, and where it waits for a signal to end.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Signals {
    /// Crates that hear SIGTERM for whoever names anything of them.
    pub crates: Vec<String>,
    /// Path tails.
    pub paths: Vec<String>,
    /// Methods.
    pub methods: Vec<String>,
    /// Path tails of what hears the signals that it is given, SIGTERM or others.
    pub registers: Vec<String>,
    /// Path tails that show that SIGINT is heard.
    pub interrupts: Vec<String>,
    /// Path tails of signals that ask a process to end, and of functions that wait for one.
    pub awaits: Vec<String>,
    /// Path tails of functions that run a closure when such a signal comes.
    pub handlers: Vec<String>,
    /// Path tails that do so only with this feature of their crate.
    pub with_feature: Vec<FeatureSignal>,
}

impl Signals {
    /// Whether a path names a signal that asks a process to end, or a function that waits for one.
    pub fn awaits(&self, path: &[String]) -> bool {
        self.awaits.iter().any(|known| ends_with(path, known))
    }

    /// Whether a package is one whose functions hear the signals that they are given.
    pub fn registers_of(&self, package: &str) -> bool {
        let name = package.replace('-', "_");
        self.registers.iter().any(|known| known.split("::").next() == Some(name.as_str()))
    }

    /// Whether the function at a path runs its closure when such a signal comes.
    pub fn handles(&self, path: &[String]) -> bool {
        self.handlers.iter().any(|known| ends_with(path, known))
    }
}

/// Whether the last segments of a path are those of `known`.
pub fn ends_with(path: &[String], known: &str) -> bool {
    let mut written = path.iter().rev();
    known.rsplit("::").all(|segment| written.next().is_some_and(|own| own == segment))
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureSignal {
    pub path: String,
    #[serde(rename = "crate")]
    pub name: String,
    pub feature: String,
}
