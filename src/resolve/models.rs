//! Client models: which calls of which libraries are operations on a store. They are data, in
//! `rules/clients/*.toml` and in a user's `leaselint.toml`; this module keeps them and answers by name.

mod builders;
mod endpoints;
mod file;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock};

pub use file::{
    ActionName, Builder, ClientModel, Command, Compared, MergeWords, Query, Refusal, Request, Signals,
    Statement, Unit, ends_with,
};

use super::value::WriteCondition;
use crate::facts::rust::{RustFile, Type};

include!(concat!(env!("OUT_DIR"), "/clients.rs"));

/// Everything that the model files say.
#[derive(Debug, Clone, Default)]
pub struct Models {
    libraries: Vec<Library>,
    methods: HashMap<String, Vec<Command>>,
    /// By path tails such as `TxnOp::put`, as all maps below.
    functions: HashMap<String, Command>,
    /// Functions that make a step of a transaction.
    steps: HashMap<String, Command>,
    comparisons: HashMap<String, Compared>,
    /// Such as `ExistenceCheck::NX`.
    conditions: HashMap<String, WriteCondition>,
    /// Such as `SetExpiry::PX`.
    expiries: HashMap<String, Unit>,
    options: HashSet<String>,
    transactions: HashSet<String>,
    transaction_methods: HashMap<String, TransactionMethod>,
    statements: HashMap<String, Statement>,
    preparations: HashMap<String, Statement>,
    queries: HashMap<String, Query>,
    builders: Vec<Builder>,
    /// The last segments of what begins a chain.
    builder_names: HashSet<String>,
    counts: Vec<String>,
    requests: Vec<Request>,
    http_crates: Vec<String>,
    /// Words of libraries that are not built in: a file that has one is worth parsing.
    own_words: Vec<String>,
    /// Packages of all libraries.
    packages: HashSet<String>,
    pub signals: Signals,
}

/// How code shows that it uses a library.
#[derive(Debug, Clone)]
struct Library {
    /// Crates, or modules that re-export them, whose import makes a common method name an operation.
    crates: Vec<String>,
    connections: Vec<Connection>,
}

/// A type or trait of connections.
#[derive(Debug, Clone)]
struct Connection {
    name: String,
    argument: Option<String>,
}

/// What a method of a transaction under construction takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionMethod {
    Conditions,
    Steps,
}

/// Libraries, by number.
pub type Libraries = Vec<usize>;

static MODELS: LazyLock<Arc<Models>> = LazyLock::new(|| {
    let mut models = Models::default();
    for (name, text) in CLIENTS {
        let file: ClientModel =
            toml::from_str(text).unwrap_or_else(|error| panic!("rules/clients/{name}.toml: {error}"));
        models.add(file);
    }
    Arc::new(models)
});

impl Models {
    pub fn built_in() -> Arc<Models> {
        MODELS.clone()
    }

    /// The built-in models, those of a user, and a user's libraries that handle signals.
    pub fn with(own: Vec<ClientModel>, signal_crates: Vec<String>) -> Arc<Models> {
        if own.is_empty() && signal_crates.is_empty() {
            return Self::built_in();
        }
        let mut models = (**MODELS).clone();
        models.signals.crates.extend(signal_crates);
        for file in own {
            let names = file.connections.iter().map(|name| Connection::new(name).name);
            models.own_words.extend(names.chain(file.crates.iter().cloned()));
            let functions = file.function.iter().flat_map(|function| function.names.iter().cloned());
            models.own_words.extend(functions);
            let distinct = file.method.iter().filter(|method| method.distinct);
            models.own_words.extend(distinct.flat_map(|method| method.names.iter().cloned()));
            models.add(file);
        }
        Arc::new(models)
    }

    fn add(&mut self, file: ClientModel) {
        let client = self.libraries.len();
        let named = file.connections.iter().chain(&file.aliases);
        let connections = named.map(|name| Connection::new(name)).collect();
        self.packages.extend(file.crates.iter().chain(&file.packages).cloned());
        self.packages.extend(file.builder.iter().flat_map(|builder| builder.crates.iter().cloned()));
        self.libraries.push(Library { crates: file.crates, connections });
        for mut method in file.method {
            (method.client, method.is_lock, method.advice) = (client, file.locks, file.advice.clone());
            for name in &method.names {
                self.methods.entry(name.clone()).or_default().push(method.clone());
            }
        }
        for mut function in file.function {
            (function.client, function.is_lock) = (client, file.locks);
            function.advice.clone_from(&file.advice);
            let kind = if function.queued { &mut self.steps } else { &mut self.functions };
            kind.extend(function.names.iter().map(|path| (path.clone(), function.clone())));
        }
        self.conditions.extend(file.condition.into_iter().map(|entry| (entry.path, entry.condition.into())));
        self.expiries.extend(file.expiry.into_iter().map(|entry| (entry.path, entry.unit)));
        self.options.extend(file.options);
        self.comparisons.extend(file.compare.into_iter().map(|entry| (entry.path, entry.of)));
        if let Some(transaction) = file.transaction {
            self.transactions.insert(transaction.new);
            self.transaction_methods.insert(transaction.when, TransactionMethod::Conditions);
            self.transaction_methods.insert(transaction.then, TransactionMethod::Steps);
        }
        for statement in file.statement {
            for name in statement.names.clone() {
                self.statements.insert(name, statement.clone());
            }
        }
        for preparation in file.preparation {
            for name in preparation.names.clone() {
                self.preparations.insert(name, preparation.clone());
            }
        }
        for query in file.query {
            for name in query.names.clone() {
                self.queries.insert(name, query.clone());
            }
        }
        self.counts.extend(file.counts);
        self.http_crates.extend(file.http_crates);
        let told = |request: Request| Request { advice: file.advice.clone(), ..request };
        self.requests.extend(file.request.into_iter().map(told));
        self.signals.crates.extend(file.signals.crates);
        for builder in file.builder {
            let begins = builder.functions.iter().chain(&builder.entities);
            let names = begins.map(|path| path.rsplit("::").next().unwrap_or(path).to_owned());
            self.builder_names.extend(names);
            self.builders.push(builder);
        }
        self.signals.paths.extend(file.signals.paths);
        self.signals.methods.extend(file.signals.methods);
        self.signals.awaits.extend(file.signals.awaits);
        self.signals.handlers.extend(file.signals.handlers);
        self.signals.registers.extend(file.signals.registers);
        self.signals.interrupts.extend(file.signals.interrupts);
        self.signals.with_feature.extend(file.signals.with_feature);
    }

    /// The method of this name among those that `admits` accepts; one that asks for the number of arguments
    /// comes before one that takes any.
    pub fn method(&self, name: &str, args: usize, admits: impl Fn(&Command) -> bool) -> Option<&Command> {
        let candidates = self.methods.get(name)?;
        let admitted = || candidates.iter().filter(|method| admits(method));
        let exact = admitted().find(|method| method.args == Some(args));
        exact.or_else(|| admitted().find(|method| method.args.is_none()))
    }

    /// The function at a path.
    pub fn function(&self, path: &[String]) -> Option<&Command> {
        self.functions.get(&tail(path)?)
    }

    /// The step of a transaction that the function at a path makes.
    pub fn step(&self, path: &[String]) -> Option<&Command> {
        self.steps.get(&tail(path)?)
    }

    /// What the condition compares that the function at a path makes.
    pub fn comparison(&self, path: &[String]) -> Option<Compared> {
        self.comparisons.get(&tail(path)?).copied()
    }

    /// Whether a path makes an empty transaction.
    pub fn makes_transaction(&self, path: &[String]) -> bool {
        tail(path).is_some_and(|tail| self.transactions.contains(&tail))
    }

    pub fn transaction_method(&self, name: &str) -> Option<TransactionMethod> {
        self.transaction_methods.get(name).copied()
    }

    /// Whether a path makes the options of a SET.
    pub fn makes_options(&self, path: &[String]) -> bool {
        tail(path).is_some_and(|tail| self.options.contains(&tail))
    }

    /// Whether a path makes a command, a script or a pipeline.
    pub fn makes_command(&self, path: &[String]) -> bool {
        let name = path.last().map_or("", String::as_str);
        matches!(name, "cmd" | "pipe")
            || path.iter().any(|segment| segment == "Script" || segment == "Cmd")
            || path.len() > 1 && !self.of_connection(&path[path.len() - 2]).is_empty()
            || self.makes_transaction(path)
            || self.function(path).is_some()
    }

    pub fn condition(&self, path: &[String]) -> Option<WriteCondition> {
        self.conditions.get(&tail(path)?).copied()
    }

    pub fn expiry(&self, path: &[String]) -> Option<Unit> {
        self.expiries.get(&tail(path)?).copied()
    }

    /// The libraries that a connection of this name, whatever its type arguments, belongs to.
    pub fn of_connection(&self, name: &str) -> Libraries {
        self.libraries_where(|library| {
            library.connections.iter().any(|known| known.name == name && known.argument.is_none())
        })
    }

    /// The libraries that have this type, its arguments, or the traits that bound it as connections.
    pub fn of_type(&self, ty: &Type) -> Libraries {
        let names = || std::iter::once(ty.name()).chain(ty.args.iter().map(|arg| arg.name()));
        self.libraries_where(|library| {
            library.connections.iter().any(|known| match &known.argument {
                Some(argument) => known.name == ty.name() && ty.args.iter().any(|arg| arg.name() == argument),
                None => names().any(|name| name == known.name),
            })
        })
    }

    /// The libraries that a path leads into, also through a re-export.
    pub fn of_path(&self, path: &[String]) -> Libraries {
        self.libraries_where(|library| path.iter().any(|segment| library.crates.contains(segment)))
    }

    /// Whether a package, by its name in code, is one of a library that has a model.
    pub fn knows(&self, package: &str) -> bool {
        self.packages.contains(package)
    }

    /// The libraries that a file imports, or whose connections it imports by name.
    pub fn imported(&self, facts: &RustFile) -> Libraries {
        let paths: Vec<&[String]> = facts.uses.iter().map(|import| &import.path[..]).collect();
        self.of_imports(&paths)
    }

    /// The libraries that these imports lead into, or whose connections they name.
    pub fn of_imports(&self, paths: &[&[String]]) -> Libraries {
        self.libraries_where(|library| {
            paths.iter().any(|path| {
                let last = path.last();
                path.iter().any(|segment| library.crates.contains(segment))
                    || library.connections.iter().any(|known| Some(&known.name) == last)
            })
        })
    }

    fn libraries_where(&self, wanted: impl Fn(&Library) -> bool) -> Libraries {
        (0..self.libraries.len()).filter(|&at| wanted(&self.libraries[at])).collect()
    }

    pub fn statement(&self, method: &str) -> Option<&Statement> {
        self.statements.get(method)
    }

    /// A method that gives a statement, to be run later.
    pub fn preparation(&self, method: &str) -> Option<&Statement> {
        self.preparations.get(method)
    }

    pub fn query(&self, name: &str) -> Option<&Query> {
        self.queries.get(name)
    }

    /// Whether a method or field of this name gives the affected-row count.
    pub fn is_count(&self, name: &str) -> bool {
        self.counts.iter().any(|count| count == name)
    }

    /// Words of a user's own libraries, one of which stands in every file that uses them.
    pub fn own_words(&self) -> &[String] {
        &self.own_words
    }
}

impl Connection {
    /// `Store`, or `Api<Lease>`.
    fn new(written: &str) -> Self {
        match written.strip_suffix('>').and_then(|written| written.split_once('<')) {
            Some((name, argument)) => Self { name: name.to_owned(), argument: Some(argument.to_owned()) },
            None => Self { name: written.to_owned(), argument: None },
        }
    }
}

/// The last two segments.
fn tail(path: &[String]) -> Option<String> {
    let from = path.len().checked_sub(2)?;
    Some(path[from..].join("::"))
}
