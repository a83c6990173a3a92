//! Facts about a Lua script that Redis runs: its commands, and what each of them is guarded by.

use serde::{Deserialize, Serialize};

use super::Span;

/// One script, or one function of a Redis function library.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Script {
    /// The name under which `redis.register_function` knows it; `None` for a plain script.
    pub function: Option<String>,
    /// `redis.call` and `redis.pcall`, in the order of the text.
    pub commands: Vec<Command>,
}

/// What the front end made of a Lua text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LuaFile {
    pub scripts: Vec<Script>,
    /// Where and why the text could not be read; then `scripts` holds what came before.
    pub problem: Option<(Span, String)>,
}

/// A command sent to the store from inside a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// In capitals, such as `DEL`.
    pub name: String,
    pub key: Operand,
    /// The operands after the key.
    pub args: Vec<Operand>,
    /// The comparison of stored ownership that must hold for the command to run.
    pub guard: Option<OwnerGuard>,
    /// It runs only where a test has shown that nothing is stored under the key, as an acquire does.
    #[serde(default)]
    pub only_if_absent: bool,
    /// The whole call, relative to the start of the script's text.
    pub span: Span,
}

/// "The value stored under `key` (or its field) equals `against`."
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnerGuard {
    pub key: Operand,
    pub against: Operand,
    pub span: Span,
}

/// A value inside a script, as far as its text shows it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Operand {
    /// `KEYS[n]`, counted from 1; in function libraries the n-th element of the first parameter.
    Key(u32),
    /// `ARGV[n]`, counted from 1; in function libraries the n-th element of the second parameter.
    Arg(u32),
    Text(String),
    Number(i64),
    /// Text put together from other operands, such as `KEYS[2] .. id`.
    Joined(Vec<Operand>),
    /// A local whose value the text does not show.
    Local(String),
    Unknown,
}
