//! The store's commands inside a script: what they answer, and what is known after them.

use super::value::{Fact, Facts, Reply, Value, identifies};
use crate::facts::Span;
use crate::facts::lua::{Command, Operand, OwnerGuard};

/// The commands that one call stands for: one for each key of a DEL with several.
pub(super) fn commands(operands: &[Operand], facts: &Facts, span: Span) -> Vec<Command> {
    let Some((Operand::Text(name), rest)) = operands.split_first() else {
        return Vec::new();
    };
    let name = name.to_ascii_uppercase();
    let one = |key: &Operand, args: &[Operand]| Command {
        name: name.clone(),
        key: key.clone(),
        args: args.to_vec(),
        guard: facts.guard(key),
        only_if_absent: facts.is_free(key),
        span,
    };
    match name.as_str() {
        "DEL" | "UNLINK" if !rest.is_empty() => rest.iter().map(|key| one(key, &[])).collect(),
        _ => match rest.split_first() {
            Some((key, args)) => vec![one(key, args)],
            None => vec![one(&Operand::Unknown, &[])],
        },
    }
}

/// The reply of a command, and what the facts become by it.
pub(super) fn run(command: &Command, facts: &mut Facts) -> Value {
    let key = &command.key;
    let mine = |against: &Operand| {
        Fact::Mine(OwnerGuard { key: key.clone(), against: against.clone(), span: command.span })
    };
    let free = || Fact::Free(key.clone());
    let arg = |n: usize| command.args.get(n).unwrap_or(&Operand::Unknown);
    match command.name.as_str() {
        "GET" | "GETEX" | "JSON.GET" | "HGETALL" => stored(command, Vec::new(), vec![free()]),
        "HGET" | "ZSCORE" if identifies(arg(0)) => stored(command, vec![mine(arg(0))], Vec::new()),
        "HGET" | "HMGET" | "LINDEX" | "GETRANGE" => stored(command, Vec::new(), vec![free()]),
        "HEXISTS" | "SISMEMBER" if identifies(arg(0)) => {
            Value::Count { one: vec![mine(arg(0))], zero: Vec::new() }
        }
        "EXISTS" => Value::Count { one: Vec::new(), zero: vec![free()] },
        "SETNX" => Value::Count { one: vec![mine(arg(0))], zero: Vec::new() },
        "HSETNX" => Value::Count { one: vec![mine(arg(1))], zero: Vec::new() },
        "SET" if has_option(command, "NX") => stored_reply(command, None, vec![mine(arg(0))], Vec::new()),
        "SET" | "GETSET" => {
            facts.replace(key, Some(mine(arg(0))));
            Value::UNKNOWN
        }
        "SETEX" | "PSETEX" => {
            facts.replace(key, Some(mine(arg(1))));
            Value::UNKNOWN
        }
        "HSET" | "HMSET" | "HINCRBY" => {
            let owner = command.args.iter().find(|a| identifies(a)).unwrap_or(arg(1));
            let still_mine = facts.guard(key).is_some_and(|guard| guard.key == *key);
            if !still_mine {
                facts.replace(key, Some(mine(owner)));
            }
            Value::UNKNOWN
        }
        "DEL" | "UNLINK" | "GETDEL" => {
            facts.replace(key, Some(free()));
            Value::UNKNOWN
        }
        _ => Value::UNKNOWN,
    }
}

fn stored(command: &Command, present: Vec<Fact>, absent: Vec<Fact>) -> Value {
    stored_reply(command, Some(command.key.clone()), present, absent)
}

fn stored_reply(command: &Command, stored: Option<Operand>, present: Vec<Fact>, absent: Vec<Fact>) -> Value {
    Value::Reply(Reply { present, absent, stored, span: command.span, name: None })
}

fn has_option(command: &Command, option: &str) -> bool {
    command.args.iter().skip(1).any(|a| matches!(a, Operand::Text(text) if text.eq_ignore_ascii_case(option)))
}
