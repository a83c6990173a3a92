//! Walks the statements of a script with the values of its locals and the facts that its branches prove.
//!
//! Every path is walked once. Loops are [`super::loops`]' part, expressions [`super::evaluate`]'s.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::tree::{Block, Expr, ExprKind, Function, Statement};
use super::value::{Closure, Condition, Facts, TableKey, Value};
use crate::facts::lua::{Command, Operand};

/// Steps that one text may take; far more than any script of use, and a bound for hostile ones.
const STEPS: usize = 1_000_000;
/// Calls of the script's own functions inside each other.
const CALLS: usize = 6;

pub(super) type Scope = BTreeMap<String, Value>;

pub(super) struct Walker<'t> {
    pub(super) text: &'t str,
    pub(super) scopes: Vec<Scope>,
    pub(super) facts: Facts,
    pub(super) commands: Vec<Command>,
    /// Functions given to `redis.register_function`.
    pub(super) registered: Vec<(String, Closure)>,
    pub(super) steps: usize,
    /// For each running function: its returns so far.
    returns: Vec<Vec<(Facts, Value)>>,
    /// How often each name of a local was given out.
    names: BTreeMap<String, u32>,
}

impl<'t> Walker<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            scopes: vec![Scope::new()],
            facts: Facts::NONE,
            commands: Vec::new(),
            registered: Vec::new(),
            steps: STEPS,
            returns: vec![Vec::new()],
            names: BTreeMap::new(),
        }
    }

    /// Takes some of the steps; `false` when there are none left.
    pub(super) fn spend(&mut self, steps: usize) -> bool {
        self.steps = self.steps.saturating_sub(steps);
        self.steps > 0
    }

    pub(super) fn block(&mut self, block: &Block) {
        self.scopes.push(Scope::new());
        self.statements(block);
        self.scopes.pop();
    }

    pub(super) fn statements(&mut self, block: &Block) {
        for statement in block {
            if !self.spend(1 + self.facts.list().len()) {
                return;
            }
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Local { names, values } => {
                let values = self.values(values, names.len());
                for (name, value) in names.iter().zip(values) {
                    self.bind(name, value);
                }
            }
            Statement::Assign { targets, values } => {
                let values = self.values(values, targets.len());
                for (target, value) in targets.iter().zip(values) {
                    self.assign(target, value);
                }
            }
            Statement::Call(call) => {
                self.eval(call);
            }
            Statement::Do(body) => self.block(body),
            Statement::If { arms, otherwise } => self.conditional(arms, otherwise),
            Statement::While { condition, body } => {
                self.repeated(body, |walker| {
                    let condition = walker.eval(condition).truth();
                    walker.facts = walker.facts.and(&condition.yes);
                    walker.block(body);
                });
            }
            Statement::Repeat { body, until } => self.repeated(body, |walker| {
                walker.block(body);
                walker.eval(until);
            }),
            Statement::NumericFor { name, bounds, body } => {
                self.values(bounds, 0);
                self.repeated(body, |walker| walker.loop_body(&[(name, Value::UNKNOWN)], body));
            }
            Statement::GenericFor { names, values, body } => {
                let values = self.values(values, 1);
                let bound = self.loop_values(names, values.first());
                self.repeated(body, |walker| walker.loop_body(&bound, body));
            }
            Statement::LocalFunction { name, function } => {
                self.bind(name, Value::Nil);
                let closure = self.closure(function);
                self.bind(name, closure);
            }
            Statement::Return(values) => {
                let mut values = self.values(values, 0);
                let value = if values.len() == 1 { values.swap_remove(0) } else { Value::Several(values) };
                let facts = std::mem::replace(&mut self.facts, Facts::Never);
                if let Some(returns) = self.returns.last_mut() {
                    returns.push((facts, value));
                }
            }
            Statement::Break => self.facts = Facts::Never,
        }
    }

    pub(super) fn closure(&self, function: &Rc<Function>) -> Value {
        Value::Function(Closure { function: Rc::clone(function), scopes: self.scopes.len() })
    }

    fn conditional(&mut self, arms: &[(Expr, Block)], otherwise: &Block) {
        let mut ends: Vec<(Facts, Vec<Scope>)> = Vec::new();
        for (condition, body) in arms {
            let condition = self.eval(condition).truth();
            let before = self.scopes.clone();
            let size: usize = before.iter().map(|scope| scope.len() + 1).sum();
            if !self.spend(size) {
                return;
            }
            let reached = self.facts.clone();
            self.facts = reached.and(&condition.yes);
            self.block(body);
            ends.push((std::mem::replace(&mut self.facts, reached.and(&condition.no)), before));
            if let Some(end) = ends.last_mut() {
                std::mem::swap(&mut end.1, &mut self.scopes);
            }
        }
        self.block(otherwise);
        ends.push((self.facts.clone(), std::mem::take(&mut self.scopes)));
        self.scopes = self.merged(&ends);
        self.facts = ends.iter().fold(Facts::Never, |sum, (facts, _)| sum.or(facts));
    }

    /// The scopes after branches that end in these.
    fn merged(&mut self, ends: &[(Facts, Vec<Scope>)]) -> Vec<Scope> {
        let mut live = ends.iter().filter(|(facts, _)| *facts != Facts::Never);
        let Some((_, first)) = live.next() else {
            return ends.last().map(|(_, scopes)| scopes.clone()).unwrap_or_default();
        };
        let mut out = first.clone();
        if live.next().is_none() {
            return out;
        }
        for (at, scope) in out.iter_mut().enumerate() {
            let names: BTreeSet<&String> =
                ends.iter().filter_map(|e| e.1.get(at)).flat_map(|s| s.keys()).collect();
            self.steps = self.steps.saturating_sub(names.len());
            for name in names {
                let choices = ends.iter().map(|(facts, scopes)| {
                    let value = scopes.get(at).and_then(|s| s.get(name)).cloned().unwrap_or(Value::Nil);
                    (facts.clone(), value)
                });
                scope.insert(name.clone(), Value::choice(choices.collect()));
            }
        }
        out
    }

    pub(super) fn unique(&mut self, name: &str) -> String {
        let count = self.names.entry(name.to_owned()).or_default();
        *count += 1;
        if *count == 1 { name.to_owned() } else { format!("{name}#{count}") }
    }

    pub(super) fn bind(&mut self, name: &str, value: Value) {
        let value = self.named(name, value);
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), value);
        }
    }

    /// A value that the text does not show gets the name of the local that holds it.
    fn named(&mut self, name: &str, value: Value) -> Value {
        match value {
            Value::Operand(Operand::Unknown) => Value::Operand(Operand::Local(self.unique(name))),
            Value::Reply(mut reply) if reply.name.is_none() => {
                reply.name = Some(self.unique(name));
                Value::Reply(reply)
            }
            Value::Several(_) => {
                let first = value.first();
                self.named(name, first)
            }
            other => other,
        }
    }

    fn assign(&mut self, target: &Expr, value: Value) {
        match &target.kind {
            ExprKind::Name(name) => {
                let value = self.named(name, value);
                let holder = self.scopes.iter().rposition(|scope| scope.contains_key(name)).unwrap_or(0);
                if let Some(scope) = self.scopes.get_mut(holder) {
                    scope.insert(name.clone(), value);
                }
            }
            ExprKind::Index { base, index } => {
                let (ExprKind::Name(table), ExprKind::Text(key)) = (&base.kind, &index.kind) else {
                    return;
                };
                let Some(Value::Table(fields)) = self.lookup(table) else {
                    return;
                };
                let mut fields = fields.as_ref().clone();
                self.steps = self.steps.saturating_sub(fields.len());
                fields.retain(|(k, _)| *k != TableKey::Text(key.clone()));
                fields.push((TableKey::Text(key.clone()), value));
                self.assign(base, Value::Table(Rc::new(fields)));
            }
            _ => {}
        }
    }

    pub(super) fn lookup(&self, name: &str) -> Option<Value> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).cloned()
    }

    /// Runs one of the script's own functions at this point.
    pub(super) fn call(&mut self, closure: &Closure, args: Vec<Value>) -> Value {
        if self.returns.len() > CALLS || !self.spend(10) {
            return Value::UNKNOWN;
        }
        let hidden = self.scopes.split_off(closure.scopes.min(self.scopes.len()));
        self.scopes.push(Scope::new());
        let mut args = args.into_iter();
        for param in &closure.function.params {
            self.bind(param, args.next().unwrap_or(Value::Nil));
        }
        self.returns.push(Vec::new());
        self.block(&closure.function.body);
        let mut returns = self.returns.pop().unwrap_or_default();
        returns.push((self.facts.clone(), Value::Nil));
        self.facts = returns.iter().fold(Facts::Never, |sum, (facts, _)| sum.or(facts));
        self.scopes.truncate(closure.scopes);
        self.scopes.extend(hidden);
        Value::choice(returns)
    }

    /// Evaluates `expr` where `facts` hold besides those that hold here.
    pub(super) fn eval_where(&mut self, facts: &Facts, expr: &Expr) -> Value {
        let before = self.facts.clone();
        self.facts = before.and(facts);
        let value = self.eval(expr);
        self.facts = before;
        value
    }

    pub(super) fn assume(&mut self, condition: &Condition) {
        self.facts = self.facts.and(&condition.yes);
    }
}
