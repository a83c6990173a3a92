//! Which calls begin and run the statements of query builders.

use super::Models;
use crate::facts::rust::{Expr, ExprKind};

impl Models {
    /// Whether a function of this name may begin a statement at all; most do not.
    pub fn may_begin_builder(&self, name: &str) -> bool {
        self.builder_names.contains(name)
    }

    /// The function of a builder that a full path names, by the segments that tell it from others.
    pub fn builder_function<'p>(&self, path: &'p [String]) -> Option<&'p [String]> {
        let first = path.first()?;
        let builder = self.builders.iter().find(|builder| builder.crates.contains(first))?;
        let tail = |length: usize| path.get(path.len().checked_sub(length)?..);
        let is_known = |tail: &&[String]| builder.functions.iter().any(|known| *known == tail.join("::"));
        [tail(2), tail(1)].into_iter().flatten().find(is_known)
    }

    /// Whether any builder has a function of this name, written without the crate in front.
    pub fn names_builder_function(&self, path: &[String]) -> bool {
        let written = path.join("::");
        self.builders.iter().any(|builder| builder.functions.contains(&written))
    }

    /// Whether a function of this name, called on a table, begins a statement.
    pub fn is_entity_function(&self, name: &str) -> bool {
        self.builders.iter().any(|builder| builder.entities.iter().any(|known| known == name))
    }

    /// Whether a method of this name runs what a builder has put together.
    pub fn runs_builder(&self, method: &str) -> bool {
        self.builders.iter().any(|builder| builder.runs.iter().any(|known| known == method))
    }

    /// Whether a path leads into the crate of a builder.
    pub fn is_of_builder(&self, path: &[String]) -> bool {
        path.first().is_some_and(|first| self.builders.iter().any(|builder| builder.crates.contains(first)))
    }

    /// Whether an expression may run what a builder has put together, in code that uses one.
    pub fn may_run_builder(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::MethodCall { method, args, .. } => !args.is_empty() && self.runs_builder(method),
            ExprKind::Path(path) => self.is_of_builder(path),
            _ => false,
        }
    }
}
