//! Sequences: the operations of each trace on keys, scripts unfolded into the commands that they send.

use std::collections::HashMap;

use crate::facts::lua::{LuaFile, Operand};
use crate::facts::{FileId, Location};
use crate::locks::operation::Context;
use crate::locks::{Action, Lifetime, Operation, OwnerCheck, OwnerValue, ReplyUse, Sequence, Ttl};

use super::super::evaluate::Evaluator;
use super::super::models::Refusal;
use super::super::trace::{self, ScriptCall, Trace};
use super::super::value::{Expiry, Form, Piece, Selector, Symbol, Value, WriteCondition};
use super::destructors::called_outside_drop;
use super::documents::{Effect, merge_effects};
use super::keys::{KeyTable, KnownKey, is_of_process, is_random};
use super::leases::Leases;
use super::lifetimes::lifetime;
use super::repetitions::repetition;
use super::scripts::{Scripts, amount_and_unit, only_reads_or_renews, operand};
use super::written::written;
use crate::locks::vocabulary::says_owner;

/// `EXPIRE key 1`, in milliseconds.
const SHORTEST: i128 = 1000;

/// The text of a command is looked for in the whole body of its function. In one with more operations than
/// this, which nobody writes by hand, no fix is offered, so that the time grows with the text alone.
const MOST_WRITTEN: usize = 64;

/// Makes the sequences of all traces that touch a key.
pub fn sequences(
    evaluator: &Evaluator<'_>,
    order: &[usize],
    keys: &mut KeyTable,
    libraries: &[(FileId, &LuaFile)],
) -> Vec<Sequence> {
    let mut scripts = Scripts::new(libraries);
    let mut functions: Vec<usize> = order.to_vec();
    functions.retain(|&function| !evaluator.program.is_replaced(function));
    functions.sort_unstable();
    let leases = Leases::of(evaluator, &functions, keys);
    let mut all: Vec<Sequence> = functions
        .iter()
        .filter_map(|&function| sequence(evaluator, function, keys, &mut scripts, &leases))
        .collect();
    let called = called_outside_drop(evaluator);
    all.iter_mut().for_each(|sequence| sequence.is_called = called.contains(&sequence.number));
    // Who knows such a key knows the owner.
    for operation in all.iter_mut().flat_map(|sequence| &mut sequence.operations) {
        operation.token_in_key |= keys.names_owner(operation.key);
    }
    all
}

/// The keys of an operation: a delete can name several, or run for each of a list.
fn each_key<'v>(action: &trace::Action, key: &'v Value) -> Vec<&'v Value> {
    match &key.form {
        Form::Tuple(parts) if matches!(action, trace::Action::Delete { .. }) => parts.iter().collect(),
        Form::Selected(selection) if matches!(selection.by, Selector::Each) => {
            selection.cases.iter().map(|(_, case)| case).collect()
        }
        _ => vec![key],
    }
}

fn sequence(
    evaluator: &Evaluator<'_>,
    function: usize,
    keys: &mut KeyTable,
    scripts: &mut Scripts,
    leases: &Leases,
) -> Option<Sequence> {
    let trace = evaluator.trace(function)?;
    let mut assembly =
        Assembly { evaluator, function, keys, scripts, leases, trace: &trace, positions: HashMap::new() };
    let mut operations = Vec::new();
    for (index, operation) in trace.operations.iter().enumerate() {
        assembly.add(index, operation, &mut operations);
    }
    if operations.is_empty() {
        return None;
    }
    let entry = evaluator.program.functions[function];
    let file = evaluator.program.units[entry.unit].file;
    Some(Sequence {
        function: evaluator.program.qualified_name(function),
        number: function,
        location: Location { file, span: entry.function.name_span },
        answers: entry.function.result.as_ref().is_some_and(says_yes_or_no),
        is_called: false,
        operations,
    })
}

fn says_yes_or_no(ty: &crate::facts::rust::Type) -> bool {
    matches!(ty.name(), "bool" | "Option") || ty.args.iter().any(says_yes_or_no)
}

struct Assembly<'s, 'a> {
    evaluator: &'s Evaluator<'a>,
    function: usize,
    keys: &'s mut KeyTable,
    scripts: &'s mut Scripts,
    leases: &'s Leases,
    trace: &'s Trace,
    /// From operations of the trace to operations of the sequence.
    positions: HashMap<usize, usize>,
}

impl Assembly<'_, '_> {
    fn add(&mut self, index: usize, operation: &trace::Operation, all: &mut Vec<Operation>) {
        if let trace::Action::Script(call) = &operation.action {
            self.add_script(index, operation, &call.clone(), all);
            return;
        }
        if let Some(action) = lease_action(&operation.action) {
            let Some(lock) = self.leases.lock(self.evaluator, &operation.key) else { return };
            let mut made = self.on_key(index, operation, lock, action, all);
            // That the lease is one's own shows nothing of its keys.
            made.compares_reading = true;
            self.positions.entry(index).or_insert(all.len());
            all.push(made);
            return;
        }
        for action in self.actions(operation) {
            for key in each_key(&operation.action, &operation.key) {
                if let Some(made) = self.operation(index, operation, key, action.clone(), all) {
                    self.positions.entry(index).or_insert(all.len());
                    all.push(made);
                }
            }
        }
    }

    /// What an operation may do: one thing, but for a document of which there are several.
    fn actions(&self, operation: &trace::Operation) -> Vec<Action> {
        let trace::Action::Merge(call) = &operation.action else {
            return self.action(operation).into_iter().collect();
        };
        let ttl = || Ttl::Given(Lifetime::UNKNOWN);
        let act = |effect| match effect {
            Effect::Clears => Action::Delete { compared: false },
            Effect::Renews => Action::Expire { compared: false, ttl: ttl() },
            Effect::Holds(holder) => {
                Action::Overwrite { only_if_present: false, ttl: ttl(), owner: self.owner(Some(&holder)) }
            }
        };
        merge_effects(call).into_iter().map(act).collect()
    }

    fn action(&self, operation: &trace::Operation) -> Option<Action> {
        let owner = || self.owner(operation.value.as_ref());
        let ttl = |expiry: &Expiry| self.ttl(expiry);
        Some(match &operation.action {
            trace::Action::Set { condition: WriteCondition::IfAbsent, expiry, .. } => {
                Action::Acquire { ttl: ttl(expiry), owner: owner() }
            }
            // Optimistic writes are as common on data as on locks; of a lock, one that stands in a loop renews it.
            trace::Action::Set { condition: WriteCondition::IfUnchanged, expiry, .. }
                if operation.repetition.as_ref().is_some_and(|known| known.calls == 0) =>
            {
                Action::Expire { compared: true, ttl: ttl(expiry) }
            }
            trace::Action::Set { condition: WriteCondition::IfUnchanged, .. } => return None,
            trace::Action::Set { condition: WriteCondition::IfEqual, expiry, .. } => {
                Action::Expire { compared: true, ttl: ttl(expiry) }
            }
            trace::Action::Set { condition, expiry, .. } => Action::Overwrite {
                only_if_present: *condition == WriteCondition::IfPresent,
                ttl: ttl(expiry),
                owner: owner(),
            },
            trace::Action::Get => Action::Read,
            trace::Action::Exists => Action::Exists,
            trace::Action::Delete { condition } => {
                Action::Delete { compared: *condition != WriteCondition::Always }
            }
            trace::Action::Expire { expiry } => match ttl(expiry) {
                // An expiry of nothing, or of the shortest time there is, is a delete.
                Ttl::Given(Lifetime { millis: Some(millis), .. }) if millis <= SHORTEST => {
                    Action::Delete { compared: false }
                }
                ttl => Action::Expire { compared: false, ttl },
            },
            trace::Action::Increment => Action::Increment,
            trace::Action::Watch => Action::Watch,
            _ => return None,
        })
    }

    fn owner(&self, value: Option<&Value>) -> OwnerValue {
        let Some(value) = value else { return OwnerValue::Unknown };
        if is_random(self.evaluator, value) {
            return OwnerValue::Unique;
        }
        if let Some(text) = value.as_text() {
            return OwnerValue::Constant(text);
        }
        match &value.form {
            _ if is_of_process(self.evaluator, value) => OwnerValue::PerProcess,
            _ if !value.flows.replies.is_empty() => OwnerValue::Read,
            Form::Int(number) => OwnerValue::Constant(number.to_string()),
            Form::Bool(yes) => OwnerValue::Constant(yes.to_string()),
            Form::Symbol(Symbol::Param { name, .. } | Symbol::Field { name, .. } | Symbol::Local(name)) => {
                OwnerValue::Named(name.to_string())
            }
            Form::Symbol(Symbol::Call(name)) => OwnerValue::Named(name.to_string()),
            _ => OwnerValue::Unknown,
        }
    }

    fn operation(
        &mut self,
        step: usize,
        operation: &trace::Operation,
        key: &Value,
        action: Action,
        before: &[Operation],
    ) -> Option<Operation> {
        let KnownKey { index, token_in_key } = self.keys.entry(self.evaluator, self.function, key)?;
        if action.is_acquire() && operation.value.as_ref().is_some_and(|value| holds_owner(key, value)) {
            self.keys.note_owner(index);
        }
        let compares_reading = operation.action.is_optimistic();
        let made = self.on_key(step, operation, index, action, before);
        Some(Operation { token_in_key, compares_reading, ..made })
    }

    /// An operation on the key of this number.
    fn on_key(
        &self,
        step: usize,
        operation: &trace::Operation,
        key: usize,
        action: Action,
        before: &[Operation],
    ) -> Operation {
        let watched = operation.pipeline.is_some()
            && before.iter().any(|earlier| earlier.key == key && earlier.action == Action::Watch);
        let program = self.evaluator.program;
        let (checks, after_acquire) = self.conditions(operation);
        let decided_by = self.decided_by(operation, key, before);
        let may_be_mended = self.trace.operations.len() <= MOST_WRITTEN
            && matches!(
                action,
                Action::Acquire { .. }
                    | Action::Delete { compared: false }
                    | Action::Expire { compared: false, .. }
                    | Action::Overwrite { .. }
            );
        let written = may_be_mended.then(|| written(self.evaluator, operation)).flatten().map(Box::new);
        Operation {
            action,
            key,
            location: naming_call(operation),
            inner: operation.location,
            expiry_from_caller: operation.expiry_from_caller,
            via: operation.via.clone(),
            function: program.qualified_name(operation.function),
            step,
            checks,
            after_acquire,
            decided_by,
            watched,
            pipeline: operation
                .pipeline
                .map(|pipeline| (pipeline, self.trace.pipelines.get(pipeline) == Some(&true))),
            context: Context {
                in_loop: operation.context.loops > 0,
                spawned: operation.context.spawned,
                in_drop: operation.context.in_drop,
                after_sleep: operation.context.after_sleep,
                in_script: false,
            },
            reply: reply_use(operation),
            spawned_at: operation.context.spawned_at,
            error_is_yes: operation.uses.error_is_yes,
            compares_reading: false,
            token_in_key: false,
            tied_to_lease: operation.action.is_tied_to_lease(),
            repetition: repetition(self.evaluator, self.function, self.trace, operation),
            is_lock: operation.is_lock,
            advice: operation.advice.clone(),
            written,
            is_test: program.is_test(operation.function) || program.is_test(self.function),
        }
    }

    fn ttl(&self, expiry: &Expiry) -> Ttl {
        let Expiry::Lease(lease) = expiry else { return ttl(self.evaluator, expiry) };
        match self.leases.lifetime(self.evaluator, self.trace, lease) {
            Some(granted) => ttl(self.evaluator, granted),
            None => Ttl::Given(Lifetime::UNKNOWN),
        }
    }

    /// The ownership comparisons that guard an operation, and the acquire known to have succeeded.
    fn conditions(&self, operation: &trace::Operation) -> (Vec<OwnerCheck>, Option<usize>) {
        let mut checks = Vec::new();
        let mut acquired = None;
        for (condition, holds) in operation.guards.iter() {
            condition.known_equalities(*holds, &mut |left, right, equal| {
                self.owner_checks(left, right, equal, &mut checks);
            });
            self.known_acquire(condition, *holds, &mut acquired);
        }
        checks.dedup();
        (checks, acquired)
    }

    /// The look at the same key that a condition around the operation is about.
    fn decided_by(&self, operation: &trace::Operation, key: usize, before: &[Operation]) -> Option<usize> {
        let replies = operation.guards.iter().flat_map(|(condition, _)| &condition.flows.replies);
        replies.filter_map(|reply| self.positions.get(reply).copied()).find(|&at| {
            let looks = |look: &Operation| matches!(look.action, Action::Read | Action::Exists);
            before.get(at).is_some_and(|look| look.key == key && looks(look))
        })
    }

    fn owner_checks(&self, left: &Value, right: &Value, equal: bool, checks: &mut Vec<OwnerCheck>) {
        for (side, other) in [(left, right), (right, left)] {
            for reply in &side.flows.replies {
                if let Some(&read) = self.positions.get(reply)
                    && matches!(self.trace.operations[*reply].action, trace::Action::Get)
                {
                    checks.push(OwnerCheck { read, equal, with_constant: is_constant(other) });
                }
            }
        }
    }

    fn known_acquire(&self, condition: &Value, holds: bool, acquired: &mut Option<usize>) {
        condition.known_answers(holds, &mut |value, positive| {
            for reply in &value.flows.replies {
                let trace::Action::Set { condition: WriteCondition::IfAbsent, returns_old, .. } =
                    self.trace.operations[*reply].action
                else {
                    continue;
                };
                // `SET … NX GET` answers with the value of the other holder: a value means no.
                if positive != returns_old && acquired.is_none() {
                    *acquired = self.positions.get(reply).copied();
                }
            }
        });
    }

    /// The commands that a script sends, each on the key it names.
    fn add_script(
        &mut self,
        index: usize,
        operation: &trace::Operation,
        call: &ScriptCall,
        all: &mut Vec<Operation>,
    ) {
        let Some((scripts, written)) = self.scripts.of(self.evaluator, call) else { return };
        let only_renews = scripts.iter().flat_map(|script| &script.commands).all(only_reads_or_renews);
        for command in scripts.iter().flat_map(|script| script.commands.clone()) {
            let key = operand(&command.key, call);
            let compared = command.guard.as_ref().is_some_and(|guard| guard.key == command.key);
            let Some(action) = self.script_action(&command, call, compared) else { continue };
            if let Some(mut made) = self.operation(index, operation, &key, action, all) {
                made.context.in_script = true;
                let against = command.guard.as_ref().map(|guard| operand(&guard.against, call));
                made.compares_reading = against.is_some_and(|value| self.is_reading(&value));
                // A script that claims or settles jobs may prolong a lease by the way.
                made.repetition = made.repetition.filter(|_| only_renews);
                if let Some((file, map)) = &written {
                    made.inner = Location { file: *file, span: map.source_span(command.span) };
                }
                self.positions.entry(index).or_insert(all.len());
                all.push(made);
            }
        }
    }

    /// Whether a value comes from what an operation read.
    fn is_reading(&self, value: &Value) -> bool {
        let reads = |reply: &usize| {
            let action = self.trace.operations.get(*reply).map(|operation| &operation.action);
            matches!(action, Some(trace::Action::Get | trace::Action::SendPipeline(_)))
        };
        value.flows.replies.iter().any(reads)
    }

    /// The lifetime that a command of a script gives its key.
    fn script_ttl(&self, command: &crate::facts::lua::Command, call: &ScriptCall) -> Ttl {
        match amount_and_unit(command) {
            Some((amount, unit)) => Ttl::Given(lifetime(self.evaluator, &operand(amount, call), unit)),
            None if command.name.ends_with("EXPIREAT") => Ttl::Given(Lifetime::UNKNOWN),
            None => Ttl::None,
        }
    }

    fn script_action(
        &self,
        command: &crate::facts::lua::Command,
        call: &ScriptCall,
        compared: bool,
    ) -> Option<Action> {
        let word = |name: &str| {
            command
                .args
                .iter()
                .any(|arg| matches!(arg, Operand::Text(text) if text.eq_ignore_ascii_case(name)))
        };
        let value = command.args.first().map(|value| operand(value, call));
        let owner = || self.owner(value.as_ref());
        let lifetime = self.script_ttl(command, call);
        Some(match command.name.as_str() {
            "SET" if word("NX") => Action::Acquire { ttl: lifetime, owner: owner() },
            "SETNX" => Action::Acquire { ttl: Ttl::None, owner: owner() },
            "SET" | "SETEX" | "PSETEX" if compared => Action::Expire { compared, ttl: lifetime },
            "SET" | "SETEX" | "PSETEX" => {
                Action::Overwrite { only_if_present: word("XX"), ttl: lifetime, owner: owner() }
            }
            "DEL" | "UNLINK" => Action::Delete { compared },
            "EXPIRE" | "PEXPIRE" | "EXPIREAT" | "PEXPIREAT" => Action::Expire { compared, ttl: lifetime },
            "GET" => Action::Read,
            "EXISTS" => Action::Exists,
            "INCR" | "INCRBY" => Action::Increment,
            _ => return None,
        })
    }
}

/// What an operation on a lease is to the lock that is tied to it.
fn lease_action(action: &trace::Action) -> Option<Action> {
    match action {
        trace::Action::KeepAlive => {
            Some(Action::Expire { compared: true, ttl: Ttl::Given(Lifetime::UNKNOWN) })
        }
        trace::Action::Revoke => Some(Action::Delete { compared: true }),
        _ => None,
    }
}

/// Whether a key holds the owner value that is stored under it.
fn holds_owner(key: &Value, value: &Value) -> bool {
    let Form::Symbol(stored) = &value.form else { return false };
    let (Symbol::Param { name, .. } | Symbol::Field { name, .. } | Symbol::Local(name)) = stored else {
        return false;
    };
    says_owner(name)
        && key.pieces().iter().any(|piece| {
            matches!(piece, Piece::Hole(part) if matches!(&part.form, Form::Symbol(symbol) if symbol == stored))
        })
}

/// Where the key of an operation is named: the operation itself, or the call of the helper that gets it.
fn naming_call(operation: &trace::Operation) -> Location {
    let calls = operation.named_at.unwrap_or(0);
    operation
        .via
        .len()
        .checked_sub(calls)
        .and_then(|at| operation.via.get(at))
        .copied()
        .unwrap_or(operation.location)
}

fn reply_use(operation: &trace::Operation) -> ReplyUse {
    let uses = operation.uses;
    let heard = uses.error_tested && operation.refusal == Refusal::Error;
    if uses.tested || heard || (uses.compared && !uses.returned) {
        ReplyUse::Tested
    } else if uses.returned {
        ReplyUse::Returned
    } else if uses.passed {
        ReplyUse::Passed
    } else {
        ReplyUse::Ignored
    }
}

fn ttl(evaluator: &Evaluator<'_>, expiry: &Expiry) -> Ttl {
    match expiry {
        Expiry::None => Ttl::None,
        Expiry::After { unit, value, .. } => match value.flows.wall_clock {
            Some(reading) => Ttl::WallClock(reading),
            None => Ttl::Given(lifetime(evaluator, value, *unit)),
        },
        Expiry::At(value) => {
            value.flows.wall_clock.map_or(Ttl::Given(Lifetime::UNKNOWN), Ttl::UntilWallClock)
        }
        Expiry::Lease(_) | Expiry::Keep | Expiry::Unknown => Ttl::Given(Lifetime::UNKNOWN),
    }
}

fn is_constant(value: &Value) -> bool {
    matches!(value.form, Form::Int(_) | Form::Bool(_)) || value.as_text().is_some()
}
