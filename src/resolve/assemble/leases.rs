//! Leases and sessions by identity: which lock is tied to one, and how long it lives. A lease is known by the
//! call that grants it, or by the field that it is kept in.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::facts::Location;

use super::super::evaluate::Evaluator;
use super::super::trace::{Action, Operation, Trace};
use super::super::value::{Expiry, Form, Symbol, Value, WriteCondition};
use super::keys::{KeyTable, field_values};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum LeaseName {
    Field(Rc<str>, Rc<str>),
    GrantedAt(Location),
}

/// The leases of the workspace.
#[derive(Default)]
pub struct Leases {
    /// The first lock that is taken with each.
    locks: BTreeMap<LeaseName, usize>,
    /// The lifetimes that each call grants.
    granted: BTreeMap<Location, Vec<Expiry>>,
}

impl Leases {
    pub fn of(evaluator: &Evaluator<'_>, functions: &[usize], keys: &mut KeyTable) -> Self {
        let mut leases = Self::default();
        for &function in functions {
            let Some(trace) = evaluator.trace(function) else { continue };
            for operation in &trace.operations {
                leases.note(evaluator, function, operation, keys);
            }
        }
        leases
    }

    fn note(
        &mut self,
        evaluator: &Evaluator<'_>,
        function: usize,
        operation: &Operation,
        keys: &mut KeyTable,
    ) {
        match &operation.action {
            Action::Grant { expiry } => {
                self.granted.entry(operation.location).or_default().push(expiry.clone());
            }
            Action::Set { condition: WriteCondition::IfAbsent, expiry: Expiry::Lease(lease), .. } => {
                let names = names(evaluator, lease);
                if names.is_empty() {
                    return;
                }
                let Some(key) = keys.entry(evaluator, function, &operation.key) else { return };
                for name in names {
                    self.locks.entry(name).or_insert(key.index);
                }
            }
            _ => {}
        }
    }

    /// The lock that is tied to a lease.
    pub fn lock(&self, evaluator: &Evaluator<'_>, lease: &Value) -> Option<usize> {
        names(evaluator, lease).iter().find_map(|name| self.locks.get(name).copied())
    }

    /// The lifetime of a lease, where the text shows the call that grants it.
    pub fn lifetime<'l>(
        &'l self,
        evaluator: &Evaluator<'_>,
        trace: &'l Trace,
        lease: &Value,
    ) -> Option<&'l Expiry> {
        let here = lease.flows.replies.iter().find_map(|&reply| match &trace.operations.get(reply)?.action {
            Action::Grant { expiry } => Some(expiry),
            _ => None,
        });
        here.or_else(|| {
            names(evaluator, lease).iter().find_map(|name| match name {
                LeaseName::GrantedAt(place) => one_of(self.granted.get(place)?),
                LeaseName::Field(..) => None,
            })
        })
    }
}

/// What is granted, when all callers of the call that does agree.
fn one_of(granted: &[Expiry]) -> Option<&Expiry> {
    let millis = |expiry: &Expiry| match expiry {
        Expiry::After { millis, .. } => *millis,
        _ => None,
    };
    let (first, rest) = granted.split_first()?;
    let is_same = |other: &Expiry| other.is_none() == first.is_none() && millis(other) == millis(first);
    rest.iter().all(is_same).then_some(first)
}

/// A lease by the field that it is kept in, and by the calls that grant what is put there.
fn names(evaluator: &Evaluator<'_>, lease: &Value) -> Vec<LeaseName> {
    let mut names = Vec::new();
    if let Form::Symbol(Symbol::Field { owner, name }) = &lease.form {
        names.push(LeaseName::Field(owner.clone(), name.clone()));
    }
    names.extend(lease.flows.lease.map(LeaseName::GrantedAt));
    let kept = field_values(evaluator, lease).unwrap_or_default();
    names.extend(kept.iter().filter_map(|value| value.flows.lease).map(LeaseName::GrantedAt));
    names
}
