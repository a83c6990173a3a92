//! Values of a running script, as far as its text shows them, and what tests on them prove.
//!
//! It knows nothing of statements or of the store's commands.

use std::rc::Rc;

use super::tree::Function;
use crate::facts::Span;
use crate::facts::lua::{Operand, OwnerGuard};

/// More than a script has any use for; bounds what hostile input can make us carry.
const MOST_FACTS: usize = 64;
const MOST_PARTS: usize = 16;
const MOST_CHOICES: usize = 8;

/// Something known of the store at one point of the script.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fact {
    /// What is stored under the guard's key equals its operand.
    Mine(OwnerGuard),
    /// Nothing is stored under the key.
    Free(Operand),
}

impl Fact {
    fn key(&self) -> &Operand {
        match self {
            Fact::Mine(guard) => &guard.key,
            Fact::Free(key) => key,
        }
    }
}

/// What is known when a point is reached.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Facts {
    /// The point cannot be reached.
    Never,
    Known(Vec<Fact>),
}

impl Facts {
    pub(super) const NONE: Facts = Facts::Known(Vec::new());

    /// Both hold.
    pub(super) fn and(&self, other: &Facts) -> Facts {
        let (Facts::Known(a), Facts::Known(b)) = (self, other) else {
            return Facts::Never;
        };
        let mut all = a.clone();
        for fact in b {
            if all.len() < MOST_FACTS && !all.contains(fact) {
                all.push(fact.clone());
            }
        }
        Facts::Known(all)
    }

    /// One of them holds. "Mine" in one and "free" in the other is still "nobody else's".
    pub(super) fn or(&self, other: &Facts) -> Facts {
        let (a, b) = match (self, other) {
            (Facts::Never, one) | (one, Facts::Never) => return one.clone(),
            (Facts::Known(a), Facts::Known(b)) => (a, b),
        };
        let in_both = |fact: &&Fact, there: &[Fact]| {
            there.iter().any(|f| match (fact, f) {
                (Fact::Mine(x), Fact::Mine(y)) => x.key == y.key && x.against == y.against,
                (Fact::Mine(x), Fact::Free(key)) => x.key == *key,
                (Fact::Free(x), Fact::Free(y)) => x == y,
                (Fact::Free(_), Fact::Mine(_)) => false,
            })
        };
        let mut kept: Vec<Fact> = a.iter().filter(|f| in_both(f, b)).cloned().collect();
        for fact in b.iter().filter(|f| in_both(f, a)) {
            if !kept.contains(fact) {
                kept.push(fact.clone());
            }
        }
        Facts::Known(kept)
    }

    /// The key was written: what was known of it is no longer true, `fact` is.
    pub(super) fn replace(&mut self, key: &Operand, fact: Option<Fact>) {
        if let Facts::Known(all) = self {
            all.retain(|f| f.key() != key);
            all.extend(fact.filter(|_| all.len() < MOST_FACTS));
        }
    }

    /// The comparison that guards a command on `key`; one on another key when there is none on this.
    pub(super) fn guard(&self, key: &Operand) -> Option<OwnerGuard> {
        let mut guards = self.list().iter().rev().filter_map(|fact| match fact {
            Fact::Mine(guard) => Some(guard),
            Fact::Free(_) => None,
        });
        let last = guards.next()?;
        let exact = std::iter::once(last).chain(guards).find(|guard| guard.key == *key);
        Some(exact.unwrap_or(last).clone())
    }

    pub(super) fn is_free(&self, key: &Operand) -> bool {
        self.list().iter().any(|fact| matches!(fact, Fact::Free(k) if k == key))
    }

    pub(super) fn list(&self) -> &[Fact] {
        match self {
            Facts::Never => &[],
            Facts::Known(all) => all,
        }
    }
}

/// What a value proves when it is true, and when it is false.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Condition {
    pub(super) yes: Facts,
    pub(super) no: Facts,
}

impl Condition {
    pub(super) const OPEN: Condition = Condition { yes: Facts::NONE, no: Facts::NONE };

    pub(super) const fn constant(value: bool) -> Self {
        if value {
            Self { yes: Facts::NONE, no: Facts::Never }
        } else {
            Self { yes: Facts::Never, no: Facts::NONE }
        }
    }

    pub(super) fn proves(yes: Vec<Fact>, no: Vec<Fact>) -> Self {
        Self { yes: Facts::Known(yes), no: Facts::Known(no) }
    }

    pub(super) fn negated(self) -> Self {
        Self { yes: self.no, no: self.yes }
    }

    pub(super) fn and(&self, other: &Condition) -> Self {
        Self { yes: self.yes.and(&other.yes), no: self.no.or(&self.yes.and(&other.no)) }
    }

    pub(super) fn or(&self, other: &Condition) -> Self {
        self.clone().negated().and(&other.clone().negated()).negated()
    }
}

/// A reply that is nil or false when something is absent.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reply {
    pub(super) present: Vec<Fact>,
    pub(super) absent: Vec<Fact>,
    /// The key whose value it is, when it is one that can be compared with an owner.
    pub(super) stored: Option<Operand>,
    pub(super) span: Span,
    /// The local that holds it.
    pub(super) name: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Operand(Operand),
    Nil,
    Boolean(Condition),
    Reply(Reply),
    /// A reply of 0 or 1, and what each proves.
    Count {
        one: Vec<Fact>,
        zero: Vec<Fact>,
    },
    /// `KEYS`, `ARGV`.
    Keys,
    Args,
    /// A table of the standard library or of the store: `redis`, `cjson`.
    Module(&'static str),
    Builtin(Builtin),
    Function(Closure),
    Table(Rc<Vec<(TableKey, Value)>>),
    Several(Vec<Value>),
    /// One of these, each with what is known when it is the one.
    Choice(Vec<(Facts, Value)>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TableKey {
    Number(i64),
    Text(String),
}

/// A function of the script and the number of scopes that it sees.
#[derive(Debug, Clone)]
pub(super) struct Closure {
    pub(super) function: Rc<Function>,
    pub(super) scopes: usize,
}

impl PartialEq for Closure {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.function, &other.function)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Builtin {
    /// `redis.call` and `redis.pcall`.
    Send,
    Register,
    /// The result stands for the first argument: `tostring`, `cjson.decode`, `string.match`.
    Same,
    /// The result is made from the arguments: `redis.sha1hex`.
    Made,
    Find,
    ProtectedCall,
    Error,
    Assert,
    Unpack,
    Each,
}

impl Value {
    pub(super) const UNKNOWN: Value = Value::Operand(Operand::Unknown);

    pub(super) fn truth(&self) -> Condition {
        match self {
            Value::Nil => Condition::constant(false),
            Value::Boolean(condition) => condition.clone(),
            Value::Reply(reply) => Condition::proves(reply.present.clone(), reply.absent.clone()),
            Value::Operand(Operand::Text(_) | Operand::Number(_)) => Condition::constant(true),
            Value::Operand(_) | Value::Builtin(_) => Condition::OPEN,
            Value::Several(all) => all.first().map_or(Condition::constant(false), Value::truth),
            Value::Choice(all) => over_choices(all, Value::truth),
            // Numbers are true in Lua, 0 as well.
            _ => Condition::constant(true),
        }
    }

    pub(super) fn first(self) -> Value {
        match self {
            Value::Several(all) => all.into_iter().next().unwrap_or(Value::Nil),
            other => other,
        }
    }

    /// What the value is when it is handed to a command.
    pub(super) fn operand(&self) -> Operand {
        match self {
            Value::Operand(operand) => operand.clone(),
            Value::Reply(Reply { name: Some(name), .. }) => Operand::Local(name.clone()),
            Value::Several(all) => all.first().map_or(Operand::Unknown, Value::operand),
            _ => Operand::Unknown,
        }
    }

    pub(super) fn choice(mut all: Vec<(Facts, Value)>) -> Value {
        all.retain(|(facts, _)| *facts != Facts::Never);
        match all.as_slice() {
            [] => return Value::Nil,
            [(_, first), rest @ ..] if rest.iter().all(|(_, v)| v == first) => {
                return first.clone();
            }
            _ => {}
        }
        let mut flat = Vec::new();
        for (facts, value) in all {
            match value {
                Value::Choice(inner) => flat.extend(inner.into_iter().map(|(f, v)| (facts.and(&f), v))),
                other => flat.push((facts, other)),
            }
        }
        if flat.len() > MOST_CHOICES { Value::UNKNOWN } else { Value::Choice(flat) }
    }
}

pub(super) fn over_choices(all: &[(Facts, Value)], test: impl Fn(&Value) -> Condition) -> Condition {
    let mut sum = Condition { yes: Facts::Never, no: Facts::Never };
    for (facts, value) in all {
        let one = test(value);
        sum.yes = sum.yes.or(&facts.and(&one.yes));
        sum.no = sum.no.or(&facts.and(&one.no));
    }
    sum
}

/// Whether a value can tell one holder from another: it comes from the caller of the script.
pub(super) fn identifies(operand: &Operand) -> bool {
    match operand {
        Operand::Arg(_) | Operand::Key(_) => true,
        Operand::Local(name) => name.starts_with("ARGV["),
        Operand::Joined(parts) => parts.iter().any(identifies),
        Operand::Text(_) | Operand::Number(_) | Operand::Unknown => false,
    }
}

pub(super) fn joined(parts: impl IntoIterator<Item = Operand>) -> Operand {
    let mut flat = Vec::new();
    for part in parts {
        match part {
            Operand::Joined(inner) => flat.extend(inner),
            other => flat.push(other),
        }
    }
    if flat.len() > MOST_PARTS { Operand::Unknown } else { Operand::Joined(flat) }
}
