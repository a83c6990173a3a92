//! Loops: their bodies are walked once, with everything that they assign forgotten.

use std::collections::BTreeSet;

use super::tree::{Block, ExprKind, Statement};
use super::value::Value;
use super::walk::{Scope, Walker};
use crate::facts::lua::Operand;

impl Walker<'_> {
    /// Runs a loop's body once, with everything that it assigns forgotten before and after; what the
    /// body proves does not outlive it, since it may not run at all.
    pub(super) fn repeated(&mut self, body: &Block, run: impl FnOnce(&mut Self)) {
        let mut assigned = BTreeSet::new();
        assigned_names(body, &mut assigned);
        self.forget(&assigned);
        let facts = self.facts.clone();
        run(self);
        self.facts = facts;
        self.forget(&assigned);
    }

    pub(super) fn loop_body(&mut self, bound: &[(&String, Value)], body: &Block) {
        self.scopes.push(Scope::new());
        for (name, value) in bound {
            self.bind(name, value.clone());
        }
        self.statements(body);
        self.scopes.pop();
    }

    /// The values of the names of `for i, key in ipairs(KEYS)`.
    pub(super) fn loop_values<'n>(
        &mut self,
        names: &'n [String],
        over: Option<&Value>,
    ) -> Vec<(&'n String, Value)> {
        let element = match over {
            Some(Value::Keys) => Some("KEYS"),
            Some(Value::Args) => Some("ARGV"),
            _ => None,
        };
        let counter = names.first().map(|name| self.unique(name)).unwrap_or_default();
        let values = names.iter().enumerate().map(|(at, name)| match (at, element) {
            (0, _) => (name, Value::Operand(Operand::Local(counter.clone()))),
            (1, Some(table)) => (name, Value::Operand(Operand::Local(format!("{table}[{counter}]")))),
            _ => (name, Value::UNKNOWN),
        });
        values.collect()
    }

    fn forget(&mut self, names: &BTreeSet<String>) {
        for name in names {
            let unique = self.unique(name);
            if let Some(scope) = self.scopes.iter_mut().rev().find(|scope| scope.contains_key(name)) {
                scope.insert(name.clone(), Value::Operand(Operand::Local(unique)));
            }
        }
    }
}

/// The names that a loop's body assigns, its own locals included.
fn assigned_names(block: &Block, out: &mut BTreeSet<String>) {
    for statement in block {
        match statement {
            Statement::Assign { targets, .. } => {
                for target in targets {
                    if let ExprKind::Name(name) = &target.kind {
                        out.insert(name.clone());
                    }
                }
            }
            Statement::Do(body)
            | Statement::While { body, .. }
            | Statement::Repeat { body, .. }
            | Statement::NumericFor { body, .. }
            | Statement::GenericFor { body, .. } => assigned_names(body, out),
            Statement::If { arms, otherwise } => {
                arms.iter().for_each(|(_, body)| assigned_names(body, out));
                assigned_names(otherwise, out);
            }
            _ => {}
        }
    }
}
